//! What clients ask for when they come in.

use crate::protocol::{Code, ItemId};
use crate::session::opening::{items, resume, studio_resume};

const EPOCH: &str = "0197d3c4a8f070008000000000000001";

#[test]
fn a_malformed_resume_is_a_bad_request_and_never_a_panic() {
    assert_eq!(resume(&format!("{EPOCH}:7")).unwrap().1, 7);
    for bad in ["", ":", "x:1", EPOCH, &format!("{EPOCH}:"), &format!("{EPOCH}:-1"), &format!("{EPOCH}:1:2")] {
        assert_eq!(resume(bad).unwrap_err().code, Code::BadRequest, "{bad}");
    }
}

#[test]
fn a_studio_resumes_each_of_its_items_by_itself() {
    let mine = items("a,b").unwrap();
    let from = studio_resume(&format!("b@{EPOCH}:3"), &mine).unwrap();
    assert_eq!(from.iter().map(|from| from.map(|(_, seq)| seq)).collect::<Vec<_>>(), [None, Some(3)]);
    assert_eq!(studio_resume(&format!("gone@{EPOCH}:3"), &mine).unwrap(), [None, None]);
    assert!(studio_resume("b", &mine).is_err());
}

#[test]
fn a_studio_with_too_many_or_repeated_items_is_refused() {
    let many = |n: usize| (0..n).map(|i| i.to_string()).collect::<Vec<_>>().join(",");
    assert_eq!(items(&many(64)).map(|items| items.len()).unwrap(), 64);
    for bad in ["", "a,", "a,a", "a b", &many(65)] {
        assert_eq!(items(bad).unwrap_err().code, Code::BadRequest, "{bad}");
    }
    assert_eq!(items("a").unwrap(), [ItemId::parse("a").unwrap()]);
}
