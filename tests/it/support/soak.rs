//! How long a test goes on: short in every run, long where somebody soaks the machine.

/// Set, to anything but nothing or `0`, by whoever has hours: `loadtest soak`.
const VARIABLE: &str = "HEARTLINE_TEST_SOAK";

/// Whether this is a soak.
fn soaks() -> bool {
    std::env::var(VARIABLE).is_ok_and(|set| !set.is_empty() && set != "0")
}

/// Rounds of a test: `ci` in every run, `soak` in a soak. Prints how many, for the soak's report.
pub fn rounds(ci: u32, soak: u32) -> u32 {
    let rounds = if soaks() { soak } else { ci };
    println!("rounds: {rounds}");
    rounds
}
