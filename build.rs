//! Tells the tests which services this build was promised: `HEARTLINE_TEST_SERVICES`, a list with commas, makes `cfg(test_redis)` and
//! `cfg(test_mongodb)`. A test that needs a service is there only then, and fails, never skips, when the service is missing.
//!
//! The server itself does not depend on it.
#![allow(clippy::print_stdout)]

/// Names that the list may have.
const SERVICES: [&str; 2] = ["redis", "mongodb"];

fn main() {
    // Cargo builds a script again whenever the package changes, unless it names what it depends on.
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=HEARTLINE_TEST_SERVICES");
    let promised = std::env::var("HEARTLINE_TEST_SERVICES").unwrap_or_default();
    for service in SERVICES {
        println!("cargo:rustc-check-cfg=cfg(test_{service})");
        if promised.split(',').any(|name| name.trim() == service) {
            println!("cargo:rustc-cfg=test_{service}");
        }
    }
}
