//! Rates on a clock that the test moves.

use governor::clock::FakeRelativeClock;

use super::*;

fn limits(config: &RateConfig) -> (Limits<FakeRelativeClock>, FakeRelativeClock) {
    let clock = FakeRelativeClock::default();
    (Limits::with_clock(config, clock.clone()), clock)
}

fn user(name: &str) -> UserId {
    UserId::parse(name).unwrap()
}

fn item(name: &str) -> ItemId {
    ItemId::parse(name).unwrap()
}

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// Scenario: a person taps 5,000 times in a minute, in messages of ten at a steady pace. Method: each message's answer is summed.
#[test]
fn five_thousand_taps_in_a_minute_all_count() {
    let (limits, clock) = limits(&RateConfig::default());
    let accepted: u32 = (0..500)
        .map(|_| {
            clock.advance(ms(120));
            limits.admit_taps(&user("ann"), Role::Viewer, 10).accepted
        })
        .sum();
    assert_eq!(accepted, 5_000);
}

/// Scenario: the same 5,000 at once, fifty messages of a hundred. Method: accepted and refused add up, and each refusal says when.
#[test]
fn taps_over_the_rate_are_refused_visibly_and_in_part() {
    let (limits, clock) = limits(&RateConfig::default());
    let mut accepted = 0;
    for _ in 0..50 {
        let admitted = limits.admit_taps(&user("ann"), Role::Anonymous, 100);
        accepted += admitted.accepted;
        assert!(admitted.accepted == 100 || admitted.retry_after_ms > 0);
    }
    assert_eq!(accepted, 300);
    clock.advance(ms(1_255));
    assert_eq!(
        limits.admit_taps(&user("ann"), Role::Anonymous, 100),
        TapsAdmitted { accepted: 100, retry_after_ms: 0 }
    );
    assert_eq!(limits.admit_taps(&user("ann"), Role::Anonymous, 100), TapsAdmitted { accepted: 25, retry_after_ms: 5 });
    assert_eq!(limits.admit_taps(&user("ann"), Role::Anonymous, 1), TapsAdmitted { accepted: 0, retry_after_ms: 5 });
    clock.advance(ms(5));
    assert_eq!(limits.admit_taps(&user("ann"), Role::Anonymous, 1).accepted, 1);
    assert_eq!(limits.admit_taps(&user("bob"), Role::Viewer, 100).accepted, 100, "another person's rate is their own");
}

/// Scenario: a flood of single taps. Method: messages run out before taps do, and come back at their rate.
#[test]
fn a_flood_of_small_messages_is_held_to_the_message_rate() {
    let (limits, clock) = limits(&RateConfig::default());
    let burst = (0..200).filter(|_| limits.admit_taps(&user("ann"), Role::Viewer, 1).accepted == 1).count();
    assert_eq!(burst, 60);
    assert_eq!(limits.admit_taps(&user("ann"), Role::Viewer, 1).retry_after_ms, 50);
    clock.advance(ms(1_000));
    let second = (0..200).filter(|_| limits.admit_taps(&user("ann"), Role::Viewer, 1).accepted == 1).count();
    assert_eq!(second, 20);
}

/// Scenario: a burst that is configured smaller than one message. Method: the message passes in part, never not at all.
#[test]
fn a_message_larger_than_the_burst_passes_in_part() {
    let (limits, _clock) = limits(&RateConfig { taps_burst: 30, ..RateConfig::default() });
    let admitted = limits.admit_taps(&user("ann"), Role::Viewer, 100);
    assert_eq!(admitted.accepted, 30);
    assert!(admitted.retry_after_ms > 0);
}

/// Scenario: comments of a viewer, a host and a service. Method: count what passes at once.
#[test]
fn comments_are_held_to_the_rate_of_the_role() {
    let (limits, clock) = limits(&RateConfig::default());
    let at_once = |role| (0..50).filter(|_| limits.admit_comment(&user("ann"), role, &item("a"), 0).is_ok()).count();
    assert_eq!((at_once(Role::Viewer), at_once(Role::Host), at_once(Role::Service)), (5, 10, 50));
    let refused = limits.admit_comment(&user("ann"), Role::Viewer, &item("a"), 0);
    assert_eq!(refused, Err(CommentRefused::Rate { retry_after_ms: 1_000 }));
    clock.advance(ms(1_000));
    assert_eq!((at_once(Role::Viewer), at_once(Role::Host)), (1, 10));
}

/// Scenario: slow mode of 30 s. Method: the second comment waits in that item only, hosts do not, and a refusal uses no rate up.
#[test]
fn slow_mode_holds_viewers_in_that_item_and_says_how_long() {
    let (limits, clock) = limits(&RateConfig::default());
    let comment = |role, place| limits.admit_comment(&user("ann"), role, &item(place), 30_000);
    assert_eq!(comment(Role::Viewer, "a"), Ok(()));
    clock.advance(ms(10_000));
    for _ in 0..20 {
        assert_eq!(comment(Role::Viewer, "a"), Err(CommentRefused::Slow { retry_after_ms: 20_000 }));
    }
    assert_eq!(comment(Role::Viewer, "b"), Ok(()));
    assert_eq!(comment(Role::Host, "a"), Ok(()));
    assert_eq!(limits.admit_comment(&user("ann"), Role::Viewer, &item("a"), 5_000), Ok(()), "slow mode was lowered");
    clock.advance(ms(30_000));
    assert_eq!(comment(Role::Viewer, "a"), Ok(()));
}

/// Scenario: a load test with rates off. Method: everything passes but what the item itself asks for.
#[test]
fn off_takes_every_rate_but_leaves_slow_mode() {
    let (limits, _clock) = limits(&RateConfig { off: true, ..RateConfig::default() });
    assert!((0..1_000).all(|_| limits.admit_taps(&user("ann"), Role::Viewer, 100).accepted == 100));
    assert!((0..1_000).all(|_| limits.admit_comment(&user("ann"), Role::Viewer, &item("a"), 0).is_ok()));
    assert!(limits.admit_comment(&user("ann"), Role::Viewer, &item("a"), 1_000).is_ok());
    assert!(limits.admit_comment(&user("ann"), Role::Viewer, &item("a"), 1_000).is_err());
}

/// Scenario: a flood of new names. Method: more people than are remembered; then time passes and the table empties.
#[test]
fn a_flood_of_names_does_not_grow_memory() {
    let people_max = 6_400;
    let (limits, clock) = limits(&RateConfig { people_max, ..RateConfig::default() });
    for n in 0..50_000 {
        let name = user(&format!("anon:{n}"));
        assert_eq!(limits.admit_taps(&name, Role::Anonymous, 1).accepted, 1);
        let _ = limits.admit_comment(&name, Role::Viewer, &item("a"), 60_000);
    }
    assert!(limits.remembered() <= 4 * people_max, "{}", limits.remembered());
    limits.shrink();
    assert!(limits.remembered() > 0, "who used something a moment ago is remembered");
    clock.advance(ms(61_000));
    limits.shrink();
    assert_eq!(limits.remembered(), 0);
}
