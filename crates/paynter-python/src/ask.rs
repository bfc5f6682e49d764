//! Long work for Python: it is done on threads of the core without the global
//! interpreter lock, while the thread that asked listens for Ctrl-C and shows
//! the progress. A panic becomes an exception.

use crate::failure::InternalError;
use paynter::CancellationToken;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time between two looks for Ctrl-C.
const LISTENING: Duration = Duration::from_millis(50);

/// The threads of the core, with the process that made them: a forked process has none of them.
static THREADS: Mutex<Option<Owned>> = Mutex::new(None);

/// Threads, with the process that made them.
type Owned = (u32, Arc<ThreadPool>);

/// How many threads a process that was forked has: the one that made it decides how work is shared out.
const FORKED: usize = 1;

thread_local! {
    /// The one thread that this thread's questions have, while they have no more.
    static ALONE: Cell<Option<Owned>> = const { Cell::new(None) };
}

/// The threads of this process, or the one of this thread.
fn threads() -> PyResult<Arc<ThreadPool>> {
    let process = std::process::id();
    let own = ALONE.take();
    ALONE.set(own.clone());
    if let Some((owner, pool)) = own
        && owner == process
    {
        return Ok(pool);
    }
    let mut known = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
    let forked = match &*known {
        Some((owner, pool)) if *owner == process => return Ok(pool.clone()),
        Some(_) => true,
        None => false,
    };
    let builder = ThreadPoolBuilder::new();
    let pool = made(if forked { builder.num_threads(FORKED) } else { builder })?;
    // The threads of the pool before belong to another process: there is nobody here to end them.
    std::mem::forget(known.replace((process, pool.clone())));
    Ok(pool)
}

fn made(builder: ThreadPoolBuilder) -> PyResult<Arc<ThreadPool>> {
    let named = builder.thread_name(|number| format!("paynter-{number}"));
    named.build().map(Arc::new).map_err(|error| {
        pyo3::exceptions::PyRuntimeError::new_err(format!("the system allows no threads: {error}"))
    })
}

/// How many threads the core has in this process.
#[pyfunction]
pub fn thread_count() -> PyResult<usize> {
    Ok(threads()?.current_num_threads())
}

/// Does some work without the lock, until it is done or somebody presses Ctrl-C. `progress` is told the stage, the
/// steps done and those in all, now and then.
pub fn ask<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&CancellationToken) -> T + Send,
) -> PyResult<T> {
    let token = CancellationToken::new();
    let done = match progress.is_none() && !hears_signals(py)? {
        true => py.detach(|| {
            threads().map(|pool| pool.install(|| catch_unwind(AssertUnwindSafe(|| work(&token)))))
        }),
        false => listen(py, progress, &token, work),
    }?;
    done.map_err(|panic| InternalError::new_err(panic_message(&*panic)))
}

/// Does some work that needs no other thread on this one, without the lock, until it is done or somebody presses
/// Ctrl-C: to hand it to another thread and back takes longer than a short run.
pub fn ask_here<T: Send>(py: Python<'_>, work: impl FnOnce(&CancellationToken) -> T + Send) -> PyResult<T> {
    let interrupted: Arc<Mutex<Option<PyErr>>> = Arc::default();
    let token = match hears_signals(py)? {
        true => listening(interrupted.clone()),
        false => CancellationToken::new(),
    };
    let done = py.detach(|| catch_unwind(AssertUnwindSafe(|| work(&token))));
    let interrupted = interrupted.lock().unwrap_or_else(PoisonError::into_inner).take();
    match interrupted {
        Some(error) => Err(error),
        None => done.map_err(|panic| InternalError::new_err(panic_message(&*panic))),
    }
}

/// A token that lets Python's handlers of signals run now and then; what they raise cancels the work.
fn listening(interrupted: Arc<Mutex<Option<PyErr>>>) -> CancellationToken {
    let (begun, heard) = (Instant::now(), AtomicU64::new(0));
    CancellationToken::asking(move || {
        let now = begun.elapsed().as_millis() as u64;
        if now < heard.load(Ordering::Relaxed) + LISTENING.as_millis() as u64 {
            return false;
        }
        heard.store(now, Ordering::Relaxed);
        let raised = Python::attach(|py| py.check_signals()).err();
        let stops = raised.is_some();
        if stops {
            *interrupted.lock().unwrap_or_else(PoisonError::into_inner) = raised;
        }
        stops
    })
}

/// Calls a function of Python whose questions have one thread: a worker leaves the others to its fellows.
#[pyfunction]
pub fn alone<'py>(work: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let pool = made(ThreadPoolBuilder::new().num_threads(1))?;
    let before = ALONE.replace(Some((std::process::id(), pool)));
    let done = work.call0();
    ALONE.set(before);
    done
}

/// Whether this is the thread that Python hears signals on.
fn hears_signals(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import(pyo3::intern!(py, "threading"))?;
    let main = threading.call_method0(pyo3::intern!(py, "main_thread"))?;
    let own = threading.call_method0(pyo3::intern!(py, "get_ident"))?;
    main.getattr(pyo3::intern!(py, "ident"))?.eq(own)
}

type Done<T> = Result<T, Box<dyn std::any::Any + Send>>;

fn listen<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    token: &CancellationToken,
    work: impl FnOnce(&CancellationToken) -> T + Send,
) -> PyResult<Done<T>> {
    let (sender, receiver) = sync_channel::<Done<T>>(1);
    let pool = threads()?;
    // The scope does not end before the work has.
    let progress = progress.map(|progress| progress.clone().unbind());
    let (interrupted, done) = py.detach(move || {
        pool.in_place_scope(move |scope| {
            scope.spawn(move |_| {
                // Where nobody waits any more, nobody misses it.
                let _ = sender.send(catch_unwind(AssertUnwindSafe(|| work(token))));
            });
            let mut interrupted = None;
            loop {
                match receiver.recv_timeout(LISTENING) {
                    Ok(done) => return (interrupted, Some(done)),
                    Err(RecvTimeoutError::Disconnected) => return (interrupted, None),
                    Err(RecvTimeoutError::Timeout) => {}
                }
                if interrupted.is_none()
                    && let Err(error) = Python::attach(|py| heard(py, progress.as_ref(), token))
                {
                    token.cancel();
                    interrupted = Some(error);
                }
            }
        })
    });
    // A signal is heard here rather than where Python runs next, which may be a callback that ignores exceptions.
    py.check_signals()?;
    match (interrupted, done) {
        (Some(error), _) => Err(error),
        (None, Some(done)) => Ok(done),
        (None, None) => Err(InternalError::new_err("the work ended without a result")),
    }
}

/// Lets Python's handlers of signals run, and shows how far the work is.
fn heard(py: Python<'_>, progress: Option<&Py<PyAny>>, token: &CancellationToken) -> PyResult<()> {
    py.check_signals()?;
    if let Some(progress) = progress {
        let (steps, total) = token.progress();
        progress.call1(py, (token.stage(), steps, total))?;
    }
    Ok(())
}

/// What a panic said.
fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}
