//! Redis forgets its scripts, cuts connections, stalls, is restarted or gone: told, survived, and nothing counted twice.

use std::time::{Duration, Instant};

use heartline::store::hot::{HotError, HotStore, Standing};

use super::*;

/// SCRIPT FLUSH before each step of the contract, and in the middle of a pipeline's worth of steps.
#[tokio::test]
async fn forgotten_scripts_are_brought_again() {
    let server = RedisServer::start(&[]);
    let hot = open(settings(&server, 1)).await;
    let mut raw = server.raw();
    let mut forget = || redis::cmd("SCRIPT").arg("FLUSH").query::<()>(&mut raw).unwrap();
    forget();
    let a = laid(&hot, "a").await;
    forget();
    let steps = (1..=20_u64).map(|op| stood(&hot, step(&a, add(1, op - 1, op, 1))));
    let answers = join_all(steps).await;
    assert!(answers.iter().zip(1..).all(|(answer, op)| answer.at == op), "sent again in their order");
    forget();
    let flight = hot.claim(&a, &[]).await.unwrap().unwrap();
    forget();
    assert_eq!(hot.align(&a, &applied(&Default::default(), &flight)).await.unwrap(), Aligned::Settled);
    forget();
    assert_eq!(hot.living().await.unwrap(), [writer(1)]);
    forget();
    assert!(hot.let_go(&a).await.unwrap());
    assert_eq!(hot.connections(), 1, "none of it was taken for a broken connection");
}

/// CLIENT KILL while steps are made one after another; each is offered again until it is answered.
#[tokio::test]
async fn a_cut_connection_is_made_again_and_nothing_counts_twice() {
    let server = RedisServer::start(&[]);
    let hot = open(settings(&server, 1)).await;
    let a = laid(&hot, "a").await;
    let mut raw = server.raw();
    for op in 1..=50 {
        if op % 10 == 0 {
            redis::cmd("CLIENT")
                .arg("KILL")
                .arg("TYPE")
                .arg("normal")
                .arg("SKIPME")
                .arg("yes")
                .query::<i64>(&mut raw)
                .unwrap();
        }
        offer(&hot, step(&a, add(1, op - 1, op, 1))).await;
    }
    assert_eq!(stood(&hot, read(&a)).await.totals, hearts(50));
    assert!(hot.connections() >= 6, "{} connections", hot.connections());
}

/// Redis stands still for longer than an answer may take, while a contribution is under way, and goes on.
#[tokio::test]
async fn after_a_response_timeout_a_new_connection_is_made() {
    let server = RedisServer::start(&[]);
    let hot = open(Settings { response_timeout: Duration::from_millis(200), ..settings(&server, 1) }).await;
    let a = laid(&hot, "a").await;
    let mut raw = server.raw();
    redis::cmd("CLIENT").arg("PAUSE").arg(1_000).arg("ALL").query::<()>(&mut raw).unwrap();
    let began = Instant::now();
    let late = hot.step(step(&a, add(1, 0, 1, 1))).await;
    assert!(matches!(late, Err(HotError::Unavailable(_))), "{late:?}");
    assert!(began.elapsed() < Duration::from_millis(900), "told in time, not when Redis goes on");
    offer(&hot, step(&a, add(1, 0, 1, 1))).await;
    assert_eq!(stood(&hot, read(&a)).await.totals, hearts(1), "the one that was late is in once");
    assert!(hot.connections() >= 2);
}

/// Killed and started again with its append-only file; gone meanwhile.
#[tokio::test]
async fn a_restarted_redis_goes_on_where_it_was_and_service_resumes_by_itself() {
    let mut server = RedisServer::durable();
    let hot = open(settings(&server, 1)).await;
    let a = laid(&hot, "a").await;
    let before = stood(&hot, step(&a, say(1, 0, 1, &[(1, 10)]))).await;
    server.kill();
    for _ in 0..3 {
        assert!(matches!(hot.step(read(&a)).await, Err(HotError::Unavailable(_))));
        assert!(matches!(hot.claim(&a, &[]).await, Err(HotError::Unavailable(_))));
    }
    server.start_again();
    let after = offer(&hot, step(&a, say(1, 0, 1, &[(1, 10)]))).await;
    assert_eq!(after, before, "counts, epoch, events and tags");
    assert_eq!(ids(&hot.unflushed_comments(&a).await.unwrap()), [10]);
    assert_eq!(hot.dirty(9).await.unwrap(), [a]);
}

/// Redis is full; it refuses in the middle of nothing.
#[tokio::test]
async fn a_full_redis_applies_a_step_whole_or_not_at_all() {
    let server = RedisServer::start(&["--maxmemory", "20mb"]);
    let hot = open(settings(&server, 1)).await;
    let a = laid(&hot, "a").await;
    let mut raw = server.raw();
    redis::cmd("CONFIG").arg("SET").arg("maxmemory").arg("1").query::<()>(&mut raw).unwrap();
    let full = hot.step(step(&a, say(1, 0, 1, &[(1, 10)]))).await;
    assert!(matches!(&full, Err(HotError::Unavailable(why)) if why.contains("OOM")), "{full:?}");
    redis::cmd("CONFIG").arg("SET").arg("maxmemory").arg("20mb").query::<()>(&mut raw).unwrap();
    let untouched = stood(&hot, read(&a)).await;
    assert_eq!((untouched.totals, untouched.seq), (hearts(0), 0));
    assert_eq!(hot.unflushed_comments(&a).await.unwrap(), []);
    assert_eq!(offer(&hot, step(&a, say(1, 0, 1, &[(1, 10)]))).await.at, 1);
}

/// Offers a step until it is answered, as journals do.
async fn offer(hot: &RedisHot, step: heartline::store::hot::Step) -> heartline::store::hot::Stood {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        match hot.step(step.clone()).await {
            Ok(Standing::At(stood)) => return stood,
            Err(HotError::Unavailable(why)) if Instant::now() > until => panic!("never answered: {why}"),
            Err(HotError::Unavailable(_)) => tokio::time::sleep(Duration::from_millis(10)).await,
            other => panic!("{other:?}"),
        }
    }
}
