//! Layers and refusals. The environment is a list that the test passes in.

use super::*;

const KEY: &str = "0123456789abcdef0123456789abcdef";

fn read(args: &[&str], env: &[(&str, &str)]) -> Result<Config, ConfigError> {
    let args = std::iter::once("heartline").chain(args.iter().copied());
    Config::from_layers(args, &|name| env.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into()))
}

fn with_file(toml: &str, args: &[&str], env: &[(&str, &str)]) -> Result<Config, ConfigError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("heartline.toml");
    std::fs::write(&path, toml).unwrap();
    let path = path.to_str().unwrap().to_owned();
    read(&[&["--config", path.as_str()], args].concat(), env)
}

fn field(result: Result<Config, ConfigError>) -> String {
    result.unwrap_err().field().unwrap_or("none").to_owned()
}

/// Scenario: nothing said. Method: read no arguments and an empty environment.
#[test]
fn the_plain_command_is_development_mode_on_loopback() {
    let config = read(&[], &[]).unwrap();
    assert_eq!(config.server.listen.to_string(), "127.0.0.1:8080");
    assert!(config.auth.development() && config.server.development && config.rooms.auto_create);
    assert_eq!((config.rooms.tick, config.rooms.flush), (ms(100), ms(5_000)));
    assert!(config.auth.anonymous_allowed && !config.rates.off);
}

/// Scenario: one field said in all three places. Method: take the places away from the top.
#[test]
fn a_lower_layer_never_overrides_a_higher_one() {
    let file = "tick_ms = 30\nflush_ms = 3000";
    let tick = |args: &[&str], env: &[(&str, &str)]| with_file(file, args, env).unwrap().rooms.tick;
    assert_eq!(tick(&["--tick-ms", "10"], &[("HEARTLINE_TICK_MS", "20")]), ms(10));
    assert_eq!(tick(&[], &[("HEARTLINE_TICK_MS", "20")]), ms(20));
    assert_eq!(tick(&[], &[]), ms(30));
    assert_eq!(with_file(file, &["--tick-ms=10"], &[]).unwrap().rooms.flush, ms(3_000));
}

/// Scenario: the file is named by the environment. Method: name it there only.
#[test]
fn the_file_can_be_named_by_the_environment() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(
        file.path(),
        "node_id = \"north\"\nallowed_origins = [\"https://A.example:443\", \"http://b:3000\"]",
    )
    .unwrap();
    let config = read(&[], &[("HEARTLINE_CONFIG", file.path().to_str().unwrap())]).unwrap();
    assert_eq!(config.server.node_id, "north");
    let origins: Vec<_> = config.server.allowed_origins.iter().map(Origin::as_str).collect();
    assert_eq!(origins, ["https://a.example", "http://b:3000"]);
}

/// Scenario: a key makes it a server for the world. Method: the same addresses with and without it.
#[test]
fn without_a_key_nothing_but_loopback_is_bound() {
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:80"] {
        assert_eq!(field(read(&["--listen", address], &[])), "listen", "{address}");
        assert_eq!(field(read(&["--metrics-listen", address], &[])), "metrics_listen", "{address}");
        let config = read(&["--listen", address, "--jwt-secret", KEY], &[]).unwrap();
        assert!(!config.auth.development() && !config.rooms.auto_create);
    }
    for address in ["127.0.0.1:0", "[::1]:0", "127.1.2.3:80"] {
        assert!(read(&["--listen", address], &[]).is_ok(), "{address}");
    }
}

/// Scenario: values out of bounds, of the wrong type, or malformed, from each layer. Method: one wrong value at a time.
#[test]
fn each_refusal_names_its_field() {
    let long = "x".repeat(65);
    let cases: &[(&[&str], &str)] = &[
        (&["--tick-ms", "9"], "tick_ms"),
        (&["--tick-ms", "1001"], "tick_ms"),
        (&["--tick-ms", "fast"], "tick_ms"),
        (&["--tick-ms", "-1"], "tick_ms"),
        (&["--flush-ms", "99"], "flush_ms"),
        (&["--flush-ms", "600001"], "flush_ms"),
        (&["--jwt-secret", "too short"], "jwt_secret"),
        (&["--listen", "here"], "listen"),
        (&["--listen", "127.0.0.1:70000"], "listen"),
        (&["--anonymous", "maybe"], "anonymous"),
        (&["--allowed-origins", "a.example"], "allowed_origins"),
        (&["--allowed-origins", "https://a.example/"], "allowed_origins"),
        (&["--allowed-origins", "ftp://a.example"], "allowed_origins"),
        (&["--allowed-origins", "https://*.example"], "allowed_origins"),
        (&["--allowed-origins", "null"], "allowed_origins"),
        (&["--node-id", &long], "node_id"),
        (&["--log-format", "xml"], "log_format"),
        (&["--auto-create", "yes"], "auto_create"),
        (&["--limits", "none"], "limits"),
        (&["--workers", "0"], "workers"),
        (&["--data-dir", ""], "data_dir"),
        (&["--config", "/nowhere/heartline.toml"], "config"),
    ];
    for (args, expected) in cases {
        assert_eq!(field(read(args, &[])), *expected, "{args:?}");
    }
    assert_eq!(field(read(&[], &[("HEARTLINE_TICK_MS", "")])), "tick_ms");
    assert_eq!(field(with_file("tick_ms = 1.5", &[], &[])), "tick_ms");
    assert_eq!(field(with_file("tick_ms =", &[], &[])), "config");
}

/// Scenario: a typing error in a name. Method: unknown flag, key, table and key of a table.
#[test]
fn an_unknown_name_is_refused_and_named() {
    assert!(read(&["--tik-ms", "5"], &[]).unwrap_err().to_string().contains("--tik-ms"));
    assert!(with_file("tik_ms = 5", &[], &[]).unwrap_err().to_string().contains("tik_ms"));
    assert!(with_file("[roms]\nrooms_max = 5", &[], &[]).unwrap_err().to_string().contains("roms"));
    assert_eq!(field(with_file("[rooms]\nroms_max = 5", &[], &[])), "rooms.roms_max");
    assert!(with_file("config = \"a\"", &[], &[]).unwrap_err().to_string().contains("config"));
}

/// Scenario: bounds without a flag. Method: set one in each table, then one out of range.
#[test]
fn the_other_bounds_are_set_in_the_files_tables() {
    let file =
        "[server]\nbody_max_bytes = 10000\n[rooms]\nlinger_ms = 5\n[sockets]\nping_ms = 1000\n[rates]\ntaps_burst = 7";
    let config = with_file(file, &[], &[]).unwrap();
    assert_eq!((config.server.body_max_bytes, config.rooms.linger), (10_000, ms(5)));
    assert_eq!((config.sockets.ping, config.rates.taps_burst), (ms(1_000), 7));
    for value in ["0", "-1", "\"5\"", "9999999999"] {
        assert_eq!(field(with_file(&format!("[rates]\ntaps_per_s = {value}"), &[], &[])), "rates.taps_per_s");
    }
}

/// Scenario: one line tells the operator what to change. Method: read the line.
#[test]
fn the_message_names_flag_variable_and_key() {
    let line = read(&["--tick-ms", "5"], &[]).unwrap_err().to_string();
    assert_eq!(line, "--tick-ms (HEARTLINE_TICK_MS, tick_ms): 5 is not 10 to 1000");
}

/// Scenario: the configuration is logged. Method: its debug form.
#[test]
fn the_key_does_not_show_itself() {
    let config = read(&["--jwt-secret", KEY], &[]).unwrap();
    assert!(!format!("{config:?}").contains(KEY));
}

/// Scenario: `--help` and `--version`. Method: they are no refusals.
#[test]
fn help_and_version_are_not_errors() {
    for asked in ["--help", "--version"] {
        assert!(matches!(read(&[asked], &[]), Err(ConfigError::Asked(_))), "{asked}");
    }
}
