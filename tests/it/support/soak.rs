//! How long a test goes on: short in every run, long where somebody soaks the machine; and what is random in it.

use rand::{SeedableRng, rngs::StdRng};

/// Set, to anything but nothing or `0`, by whoever has the time: `loadtest soak`.
const VARIABLE: &str = "HEARTLINE_TEST_SOAK";

/// Set to a number, to play a run again.
const SEED: &str = "HEARTLINE_TEST_SEED";

/// Randomness of which the seed is printed.
#[allow(clippy::print_stdout, reason = "shown by the test runner where the test fails")]
pub fn seeded() -> StdRng {
    let given = std::env::var(SEED).ok().map(|seed| seed.parse().expect("a number"));
    let seed: u64 = given.unwrap_or_else(rand::random);
    println!("{SEED}={seed}");
    StdRng::seed_from_u64(seed)
}

/// Whether this is a soak.
pub fn soaks() -> bool {
    std::env::var(VARIABLE).is_ok_and(|set| !set.is_empty() && set != "0")
}

/// Rounds of a test: `ci` in every run, `soak` in a soak. Prints how many, for the soak's report.
pub fn rounds(ci: u32, soak: u32) -> u32 {
    let rounds = if soaks() { soak } else { ci };
    println!("rounds: {rounds}");
    rounds
}
