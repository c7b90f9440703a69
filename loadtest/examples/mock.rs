//! The tests' mock as a process, for trying the generator by hand: `--listen 127.0.0.1:PORT --tick-ms MS`; other flags are ignored.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

#[path = "../tests/e2e/mock/mod.rs"]
mod mock;

#[tokio::main]
async fn main() {
    let args: Vec<String> = std::env::args().collect();
    let value = |flag: &str| args.iter().skip_while(|arg| *arg != flag).nth(1).cloned();
    let listen = value("--listen").unwrap_or_else(|| "127.0.0.1:0".to_owned());
    let tick_ms = value("--tick-ms").map_or(100, |ms| ms.parse().unwrap());
    let server = mock::start_at(mock::Fault::Honest, &listen, std::time::Duration::from_millis(tick_ms)).await;
    println!("http://{}/", server.address);
    let mut stop = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()).unwrap();
    stop.recv().await;
}
