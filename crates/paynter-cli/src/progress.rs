//! The progress bar of long work: on standard error, on a terminal only, and
//! only once a person has begun to wait.

use indicatif::{ProgressBar, ProgressStyle};
use paynter::CancellationToken;
use std::io::IsTerminal;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// What is done sooner needs no bar.
const PATIENCE: Duration = Duration::from_millis(500);

/// The time between two readings of the token.
const PERIOD: Duration = Duration::from_millis(100);

/// Shows the progress of a token until it is dropped.
pub struct Progress {
    watcher: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Begins to watch a token.
    pub fn watch(token: &CancellationToken) -> Progress {
        if !std::io::stderr().is_terminal() {
            return Progress { watcher: None };
        }
        let token = token.clone();
        let (sender, receiver) = channel::<()>();
        let watcher = std::thread::Builder::new().spawn(move || {
            let mut period = PATIENCE;
            let mut bar: Option<ProgressBar> = None;
            while receiver.recv_timeout(period) == Err(RecvTimeoutError::Timeout) && !token.is_cancelled() {
                period = PERIOD;
                show(bar.get_or_insert_with(ProgressBar::no_length), &token);
            }
            if let Some(bar) = bar {
                bar.finish_and_clear();
            }
        });
        // Without a thread for it there is no bar.
        Progress { watcher: watcher.ok().map(|thread| (sender, thread)) }
    }
}

/// Brings the bar to where the work is; work that does not know its length has a clock only.
fn show(bar: &ProgressBar, token: &CancellationToken) {
    let (done, total) = token.progress();
    let known = total > 0;
    let template = if known {
        "{msg} [{bar:30}] {percent:>3} %  {elapsed}, about {eta} left"
    } else {
        "{msg} {spinner} {elapsed}"
    };
    if (bar.length().is_some() != known || bar.message().is_empty())
        && let Ok(style) = ProgressStyle::with_template(template)
    {
        bar.set_style(style.progress_chars("█▌ "));
    }
    let stage = token.stage();
    let message = if stage.is_empty() { "working" } else { stage };
    if bar.message() != message {
        bar.reset_eta();
        bar.set_message(message);
    }
    if known {
        bar.set_length(total);
        bar.set_position(done.min(total));
    } else {
        bar.unset_length();
    }
    bar.tick();
}

impl Drop for Progress {
    /// Clears the bar, so that what follows has the line to itself.
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.watcher.take() {
            drop(sender);
            let _ = thread.join();
        }
    }
}
