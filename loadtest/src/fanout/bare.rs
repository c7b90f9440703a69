//! The yardstick: one frame written to each socket in turn with `write(2)`, several times a second. Nothing could do less and deliver.
//!
//! A process of its own, told what to do on standard input: `accept N`, then any number of `go HZ MILLISECONDS`; it ends with its input.

use std::io::{BufRead, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// The whole frame: two bytes of header, sixty of payload, the length of a count.
const FRAME: &[u8; 62] = b"\x81\x3c{\"t\":\"counts\",\"item\":\"fanout\",\"seq\":0,\"taps\":{\"heart\":1234}}";

/// Serves until standard input ends.
///
/// # Errors
/// It is told what it does not know, or the network fails.
pub fn serve() -> Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    say(&format!("port {}", listener.local_addr()?.port()))?;
    let mut sockets = Vec::new();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split(' ').collect();
        match words.as_slice() {
            ["accept", n] => {
                sockets = accept(&listener, n.parse()?)?;
                say("accepted")?;
            }
            ["go", hz, ms] => {
                let written = write(&mut sockets, hz.parse()?, Duration::from_millis(ms.parse()?));
                say(&format!("done {written}"))?;
            }
            _ => bail!("{line}: not understood"),
        }
    }
    Ok(())
}

fn say(line: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).context("standard output")
}

fn accept(listener: &TcpListener, n: usize) -> Result<Vec<TcpStream>> {
    let accept = |_| {
        let (stream, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        Ok(stream)
    };
    (0..n).map(accept).collect()
}

/// Writes to all, `hz` times a second, for so long; answers how many frames were taken. A full socket misses its frame.
fn write(sockets: &mut [TcpStream], hz: u32, length: Duration) -> u64 {
    let start = Instant::now();
    let rounds = (length.as_secs_f64() * f64::from(hz)) as u32;
    let mut written = 0;
    for round in 0..rounds {
        let due = start + Duration::from_secs(1) * round / hz.max(1);
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        for socket in &mut *sockets {
            written += u64::from(matches!(socket.write(FRAME), Ok(n) if n == FRAME.len()));
        }
    }
    written
}
