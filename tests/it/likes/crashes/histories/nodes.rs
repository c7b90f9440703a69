//! The processes of a history: killed while people act, started anew in between.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use parking_lot::Mutex;

use crate::support::process::Process;
use crate::support::rest::Node;

/// See the module.
pub struct Nodes<'a> {
    start: Box<dyn Fn() -> Process + Sync + 'a>,
    nodes: Vec<Running>,
    /// When the last of those that died was started anew.
    whole_since: Instant,
}

struct Running {
    process: Mutex<Process>,
    url: String,
    dead: AtomicBool,
}

impl<'a> Nodes<'a> {
    /// So many, each of them started so.
    pub fn start(count: usize, start: impl Fn() -> Process + Sync + 'a) -> Self {
        let nodes = (0..count).map(|_| Running::of(start())).collect();
        Self { start: Box::new(start), nodes, whole_since: Instant::now() }
    }

    pub fn count(&self) -> usize {
        self.nodes.len()
    }

    /// A path on one of them, whether it lives or not.
    pub fn url(&self, node: usize, path: &str) -> String {
        format!("{}{path}", self.nodes[node].url)
    }

    /// `kill -9`, under everybody's hands.
    pub fn kill(&self, node: usize) {
        self.nodes[node].dead.store(true, Ordering::SeqCst);
        self.nodes[node].process.lock().kill();
    }

    /// Starts what is dead.
    pub fn mend(&mut self) {
        for node in self.nodes.iter_mut().filter(|node| node.dead.load(Ordering::SeqCst)) {
            *node = Running::of((self.start)());
            self.whole_since = Instant::now();
        }
    }

    pub fn whole_since(&self) -> Instant {
        self.whole_since
    }

    /// All of them, while nobody kills.
    pub fn each(&mut self) -> impl Iterator<Item = &mut Process> {
        self.nodes.iter_mut().map(|node| node.process.get_mut())
    }

    pub fn first(&mut self) -> &Process {
        self.nodes[0].process.get_mut()
    }

    /// In order, and without anything amiss.
    pub fn stop(mut self) {
        for process in self.each() {
            assert_eq!(process.metric("heartline_drift"), 0.0);
            assert_eq!(process.terminate(), Some(0));
        }
    }
}

impl Running {
    fn of(process: Process) -> Self {
        Self { url: process.url(""), process: Mutex::new(process), dead: AtomicBool::new(false) }
    }
}
