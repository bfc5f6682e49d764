//! Ctrl-C: the work is asked to stop, and where it does not listen the
//! process ends all the same. Nothing is left half-written.

use crate::replace;
use paynter::CancellationToken;
use std::io::Write;
use std::sync::Mutex;
use std::time::Duration;

/// The exit code of a process that a person has stopped.
const STOPPED: i32 = 130;

/// How long the work may take to notice that it is no longer wanted.
const GRACE: Duration = Duration::from_millis(150);

/// Held by whoever ends the process, so that it is said once.
static ENDING: Mutex<()> = Mutex::new(());

/// Lets Ctrl-C cancel the work that holds this token.
pub fn listen(token: &CancellationToken) {
    let token = token.clone();
    // Where no handler can be set, the system's own ends the process.
    let _ = ctrlc::set_handler(move || {
        token.cancel();
        std::thread::sleep(GRACE);
        stop();
    });
}

/// Ends the process because a person asked for it.
pub fn stop() -> ! {
    let _ending = ENDING.lock();
    replace::abandon();
    // A bar may stand on the line; where standard error is closed, nobody is left to be told.
    let _ = writeln!(std::io::stderr(), "\rstopped");
    std::process::exit(STOPPED)
}
