//! How the process ends when it cannot begin.

use std::process::{Command, Output};

fn run(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_heartline")).env_clear().args(args).output().unwrap()
}

/// Scenario: an operator's typing error. Method: exit 64, one line on standard error with the field's name, nothing on standard output.
#[test]
fn bad_configuration_is_one_line_and_exit_64() {
    for (args, field) in [
        (&["--tick-ms", "5"][..], "tick_ms"),
        (&["--listen", "0.0.0.0:0"][..], "listen"),
        (&["--jwt-secret", "short"][..], "jwt_secret"),
        (&["--config", "/nowhere.toml"][..], "config"),
        (&["--nonsense"][..], "--nonsense"),
    ] {
        let output = run(args);
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(64), "{args:?}: {told}");
        assert_eq!((told.lines().count(), told.contains(field)), (1, true), "{args:?}: {told}");
        assert!(output.stdout.is_empty(), "{args:?}");
    }
}

/// Scenario: two servers on one data folder. Method: the second exits 64 and names the folder's field; the first goes on.
#[test]
fn a_data_folder_in_use_is_bad_configuration() {
    use crate::support::Server;
    use crate::support::rest::Node;
    let folder = tempfile::tempdir().unwrap();
    let first = Server::start_in(folder.path().to_owned(), &[]);
    let output = run(&["--listen", "127.0.0.1:0", "--data-dir", folder.path().to_str().unwrap()]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(64), "{told}");
    assert!(told.contains("data_dir"), "{told}");
    assert_eq!(first.get("/healthz", None).0, 200);
    first.stop();
}
