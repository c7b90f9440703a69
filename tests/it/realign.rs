//! `heartline realign`, the command itself: on a folder, and on Redis and MongoDB beside a server that goes on.

use std::process::{Command, Output};

use serde_json::json;

use crate::support::Server;
use crate::support::rest::Node;

/// The command with these arguments: its exit code, standard output and standard error.
fn realign(args: &[&str]) -> (Option<i32>, String, String) {
    let binary = env!("CARGO_BIN_EXE_heartline");
    let Output { status, stdout, stderr } = Command::new(binary).arg("realign").args(args).output().unwrap();
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

/// Scenario: an operator realigns a folder: mistyped, while its server runs, after the stop, an item that there is not. Method: codes
/// and lines; the folder's own hot store is made from its documents at each start, so that nothing in it can be behind.
#[test]
fn a_folder_is_worked_on_only_when_its_server_has_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let (code, _, told) = realign(&["show", "--keep", "hot", "--data-dir", &format!("{path}/mistyped")]);
    assert_eq!((code, told.lines().count(), told.contains("data_dir")), (Some(64), 1, true), "{told}");
    assert!(!folder.path().join("mistyped").exists());

    let server = Server::start_in(folder.path().to_owned(), &[]);
    let ann = server.token("ann", "viewer");
    for (item, n) in [("show", 3), ("other", 4)] {
        assert_eq!(server.post(&format!("/v1/items/{item}/taps"), Some(&ann), &json!({"n": n})).0, 200);
    }
    let (code, out, told) = realign(&["show", "--keep", "hot", "--data-dir", path]);
    assert_eq!((code, told.lines().count(), told.contains("in use"), out.as_str()), (Some(64), 1, true, ""), "{told}");
    server.stop();

    let (code, out, told) = realign(&["--all", "--keep", "durable", "--data-dir", path]);
    assert_eq!((code, told.as_str()), (Some(0), ""));
    assert_eq!(out, "other: in line, left alone\nshow: in line, left alone\n");
    let (code, out, _) = realign(&["nothing", "--keep", "hot", "--data-dir", path]);
    assert_eq!((code, out.as_str()), (Some(70), "nothing: FAILED: no such item\n"));
    let (code, _, told) = realign(&["show", "--data-dir", path]);
    assert_eq!((code, told.lines().count(), told.contains("--keep")), (Some(64), 1, true), "{told}");

    let server = Server::start_in(folder.path().to_owned(), &[]);
    assert_eq!(server.ledger("show", "taps.heart"), (3, 0, 3));
    server.stop();
}

#[cfg(all(test_redis, test_mongodb))]
mod distributed {
    use futures_util::TryStreamExt;
    use heartline::store::durable::mongodb::Settings;
    use mongodb::bson::{Document, doc};

    use super::realign;
    use crate::support::client::Client;
    use crate::support::pair::Pair;
    use crate::support::process::Process;
    use crate::support::rest::Node;
    use crate::support::{eventually, mongodb as service};
    use serde_json::json;

    const COLLECTIONS: [&str; 2] = ["documents", "comments"];

    /// What an operator keeps of a database, and puts back.
    fn backup(settings: &Settings) -> Vec<Vec<Document>> {
        apart(async {
            let mut kept = Vec::new();
            for name in COLLECTIONS {
                let collection = service::database(settings).await.collection::<Document>(name);
                kept.push(collection.find(doc! {}).await.unwrap().try_collect().await.unwrap());
            }
            kept
        })
    }

    fn restore(settings: &Settings, kept: &[Vec<Document>]) {
        apart(async {
            for (name, documents) in COLLECTIONS.into_iter().zip(kept) {
                let collection = service::database(settings).await.collection::<Document>(name);
                collection.delete_many(doc! {}).await.unwrap();
                collection.insert_many(documents).await.unwrap();
            }
        });
    }

    fn apart<T>(work: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
    }

    struct Show {
        folder: tempfile::TempDir,
        pair: Pair,
        server: Process,
        ann: Client,
        said: i64,
    }

    impl Show {
        fn start() -> Self {
            let (folder, pair) = (tempfile::tempdir().unwrap(), Pair::start());
            let server = pair.server(folder.path(), &["--flush-ms", "200"]);
            let ann = Client::named(&server, "show", "ann");
            Self { folder, pair, server, ann, said: 0 }
        }

        /// 30 taps and a comment, all acknowledged.
        fn act(&mut self) {
            for n in 0..10 {
                assert_eq!(self.ann.ask(&format!("t{n}"), json!({"t": "tap", "n": 3}))["accepted"], 3);
            }
            let text = format!("comment {}", self.said);
            assert_eq!(self.ann.ask("c", json!({"t": "comment", "text": text}))["t"], "ack");
            self.said += 1;
        }

        fn folded(&self, taps: i64, comments: i64) {
            eventually("folded", || {
                let is = (self.server.ledger("show", "taps.heart"), self.server.ledger("show", "comments"));
                (is == ((taps, 0, taps), (comments, 0, comments))).then_some(())
            });
            assert_eq!(self.server.metric("heartline_drift"), 0.0);
        }

        fn texts(&self) -> Vec<String> {
            let history = self.server.history("show");
            history.iter().map(|comment| comment["text"].as_str().unwrap().to_owned()).collect()
        }

        fn realign(&self, what: &str, keep: &str) -> (Option<i32>, String) {
            let (urls, folder) = (self.pair.urls(), self.folder.path().to_str().unwrap());
            let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
            let at = ["--data-dir", folder, "--log-level", "error"];
            let (code, out, _) = realign(&[&[what, "--keep", keep], &urls[..], &at].concat());
            (code, out)
        }

        /// Acts, is backed up, acts, is set back, acts: an alarm, and the taps count on.
        fn until_the_alarm(&mut self) {
            self.act();
            self.folded(30, 1);
            let kept = backup(&self.pair.settings);
            self.act();
            self.folded(60, 2);
            assert_eq!(self.realign("--all", "durable"), (Some(0), "show: in line, left alone\n".to_owned()));
            restore(&self.pair.settings, &kept);
            self.act();
            eventually("an alarm", || (self.server.metric("heartline_fold_behind") == 1.0).then_some(()));
            let shown = self.server.get("/v1/items/show", None).1;
            assert_eq!(shown["counts"]["taps"]["heart"], 90, "{shown}");
        }

        /// The alarm ends by itself, and the same server goes on from these numbers.
        fn goes_on(mut self, taps: i64, comments: i64, texts: &[&str]) {
            self.folded(taps, comments);
            eventually("no alarm", || (self.server.metric("heartline_fold_behind") == 0.0).then_some(()));
            assert_eq!(self.texts(), texts);
            self.act();
            self.folded(taps + 30, comments + 1);
            assert_eq!(self.realign("show", "durable"), (Some(0), "show: in line, left alone\n".to_owned()));
            assert_eq!(self.server.terminate(), Some(0));
        }
    }

    /// Scenario: a backup is put back under a running server, and the operator keeps what was shown. Method: exact totals; gone are
    /// only the texts of comments that the database alone had.
    #[test]
    fn a_restored_backup_can_be_overruled_without_losing_a_tap() {
        let mut show = Show::start();
        show.until_the_alarm();
        let (code, out) = show.realign("show", "hot");
        assert_eq!((code, out.starts_with("show: kept hot: durable at fold ")), (Some(0), true), "{out}");
        show.goes_on(90, 3, &["comment 0", "comment 2"]);
    }

    /// Scenario: the same, and the operator keeps the backup. Method: what was folded after it is gone, and nothing that was not yet folded.
    #[test]
    fn a_restored_backup_can_be_kept_and_only_what_was_folded_after_it_is_gone() {
        let mut show = Show::start();
        show.until_the_alarm();
        let (code, out) = show.realign("--all", "durable");
        assert_eq!((code, out.starts_with("show: kept durable: durable at fold ")), (Some(0), true), "{out}");
        show.goes_on(60, 2, &["comment 0", "comment 2"]);
    }
}
