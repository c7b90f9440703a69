//! What an idle viewer costs.

use std::net::TcpListener;

use bytes::Bytes;

use super::{Relayed, opening};
use crate::acts::bench::until;
use crate::config::SocketConfig;

const SOCKETS: usize = 2_000;
/// The promise: resident memory of an idle socket, the kernel's aside.
const IDLE_SOCKET_MAX_BYTES: usize = 5 * 1_024;

/// Scenario: 2,000 viewers of one room who have got everything that comes first and then are silent. Method: the growth of the
/// process's resident memory, the clients' ends (bare descriptors) included, over the number of sockets. It measures the whole
/// process, so it runs alone: `cargo test --lib -- --ignored --test-threads 1 an_idle_viewer`.
#[actix_rt::test]
#[allow(clippy::print_stdout, reason = "a measurement is for people to read")]
#[ignore = "measures the whole process: to be run alone"]
async fn an_idle_viewer_costs_no_more_than_promised() {
    let relayed = Relayed::new(SocketConfig::default());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut clients = Vec::with_capacity(SOCKETS);
    let mut join = async |number: usize| {
        clients.push(std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap());
        let (server, _) = listener.accept().unwrap();
        server.set_nonblocking(true).unwrap();
        let server = tokio::net::TcpStream::from_std(server).unwrap();
        relayed.relay.adopt(server, Bytes::new(), opening("a", Some(&format!("viewer user-{number}"))));
        until("the join", || relayed.bench.room.joins.borrow().len() > number).await;
    };
    join(0).await;
    let before = resident_bytes();
    for number in 1..=SOCKETS {
        join(number).await;
    }
    let delivered = 3 * (SOCKETS as u64 + 1);
    // Pings may come on top.
    until("their first frames", || relayed.bench.door.stats.deliveries() >= delivered).await;
    let each = (resident_bytes() - before) / SOCKETS;
    println!("{each} bytes of resident memory per idle socket");
    assert!(each <= IDLE_SOCKET_MAX_BYTES, "{each} bytes of resident memory per idle socket");
}

fn resident_bytes() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4_096
}
