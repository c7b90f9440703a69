//! How long the failure tests go on: in the ordinary run, and in a soak.

/// A number of rounds: `soak` where `HEARTLINE_TEST_SOAK` is set, as `loadtest soak` does, else `ci`. Says which, for its report.
pub fn rounds(ci: u32, soak: u32) -> u32 {
    let rounds = if std::env::var_os("HEARTLINE_TEST_SOAK").is_some() { soak } else { ci };
    println!("rounds: {rounds}");
    rounds
}
