//! A TCP proxy in front of a store: loses a reply after its request was carried out, or is a hole in the network for a while.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

/// After the request whose reply is lost nothing comes back for so long: the server has done it, and whatever else was under way.
const QUIET: Duration = Duration::from_millis(50);

/// Ends with the process that it is in.
pub struct Proxy {
    address: String,
    shared: Arc<Shared>,
}

struct Shared {
    to: String,
    /// Part of the next request whose reply is to be lost.
    armed: Mutex<Option<Vec<u8>>>,
    lost: AtomicU32,
    hole: Mutex<bool>,
    healed: Condvar,
}

impl Proxy {
    /// In front of `HOST:PORT`.
    pub fn start(to: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let shared = Arc::new(Shared {
            to: to.to_owned(),
            armed: Mutex::default(),
            lost: AtomicU32::new(0),
            hole: Mutex::new(false),
            healed: Condvar::new(),
        });
        let accepting = shared.clone();
        std::thread::spawn(move || listener.incoming().for_each(|client| accepting.connect(client.unwrap())));
        Self { address, shared }
    }

    /// `127.0.0.1:PORT`.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The next request with these bytes in it is passed on, its reply is not, and its connection is cut.
    pub fn lose_reply_to(&self, part: &[u8]) {
        *self.shared.armed.lock() = Some(part.to_vec());
    }

    /// Replies lost so far.
    pub fn lost(&self) -> u32 {
        self.shared.lost.load(Ordering::SeqCst)
    }

    /// From now on nothing passes and nobody is told: connections stay, new ones are taken and hang.
    pub fn swallow(&self) {
        *self.shared.hole.lock() = true;
    }

    /// What was swallowed arrives, late, as after a partition.
    pub fn heal(&self) {
        *self.shared.hole.lock() = false;
        self.shared.healed.notify_all();
    }
}

impl Shared {
    fn connect(self: &Arc<Self>, client: TcpStream) {
        // A server that is gone: its clients are told by the cut.
        let Ok(server) = TcpStream::connect(&self.to) else { return };
        for socket in [&client, &server] {
            socket.set_nodelay(true).unwrap();
        }
        let losing = Arc::new(AtomicBool::new(false));
        let (up, down) = ((client.try_clone().unwrap(), server.try_clone().unwrap()), (server, client));
        let (shared, loses) = (self.clone(), losing.clone());
        std::thread::spawn(move || shared.pass_up(up, &loses));
        let shared = self.clone();
        std::thread::spawn(move || shared.pass_down(down, &losing));
    }

    fn pass_up(&self, (mut client, mut server): (TcpStream, TcpStream), losing: &AtomicBool) {
        let mut buffer = [0; 65_536];
        while let Ok(n @ 1..) = client.read(&mut buffer) {
            self.wait_out_hole();
            let request = &buffer[..n];
            let mut armed = self.armed.lock();
            if armed.as_ref().is_some_and(|part| request.windows(part.len()).any(|bytes| bytes == part)) {
                *armed = None;
                losing.store(true, Ordering::SeqCst);
            }
            drop(armed);
            if server.write_all(request).is_err() {
                break;
            }
        }
        cut(&client, &server);
    }

    fn pass_down(&self, (mut server, mut client): (TcpStream, TcpStream), losing: &AtomicBool) {
        let mut buffer = [0; 65_536];
        loop {
            match server.read(&mut buffer) {
                Ok(0) => break,
                Ok(_) if losing.load(Ordering::SeqCst) => server.set_read_timeout(Some(QUIET)).unwrap(),
                Ok(n) => {
                    self.wait_out_hole();
                    if client.write_all(&buffer[..n]).is_err() {
                        break;
                    }
                }
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    self.lost.fetch_add(1, Ordering::SeqCst);
                    break;
                }
                Err(_) => break,
            }
        }
        cut(&client, &server);
    }

    fn wait_out_hole(&self) {
        let mut hole = self.hole.lock();
        while *hole {
            self.healed.wait(&mut hole);
        }
    }
}

/// Either may be gone already.
fn cut(client: &TcpStream, server: &TcpStream) {
    let _ = client.shutdown(Shutdown::Both);
    let _ = server.shutdown(Shutdown::Both);
}
