//! Who may do what. Pure.

use crate::auth::Caller;
use crate::protocol::{ApiError, Code, CommentsMode, ItemId, ItemView, Role};

/// What kind of right an act needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Needs {
    /// Anybody who acts on the item, the anonymous included.
    Anybody,
    /// Somebody with a name.
    Person,
    /// A host of the item.
    Host,
}

/// `forbidden` unless the caller has the right on this item.
pub(super) fn check(caller: &Caller, item: &ItemId, needs: Needs) -> Result<(), ApiError> {
    let has = match needs {
        Needs::Anybody => caller.acts_on(item),
        Needs::Person => caller.acts_on(item) && caller.role != Role::Anonymous,
        Needs::Host => caller.hosts(item),
    };
    if has { Ok(()) } else { Err(ApiError::new(Code::Forbidden, "this token may not do that to this item")) }
}

/// A closed chat takes comments of hosts only.
pub(super) fn check_chat(caller: &Caller, item: &ItemView) -> Result<(), ApiError> {
    let open = item.comments_mode == CommentsMode::Open || caller.hosts(&item.item);
    if open { Ok(()) } else { Err(ApiError::new(Code::Forbidden, "the chat is closed")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{ItemSettings, Millis, UserId};

    fn caller(role: Role, items: Option<&[&str]>) -> Caller {
        let items = items.map(|items| items.iter().map(|item| ItemId::parse(item).unwrap()).collect());
        Caller { user: UserId::parse("u").unwrap(), role, items, name: None, expires: Millis(0) }
    }

    #[test]
    fn nobody_gets_a_right_that_the_token_does_not_give() {
        let item = ItemId::parse("show").unwrap();
        let may = |role, items, needs| check(&caller(role, items), &item, needs).is_ok();
        for (role, items, anybody, person, host) in [
            (Role::Anonymous, None, true, false, false),
            (Role::Viewer, None, true, true, false),
            (Role::Viewer, Some(&["other"][..]), false, false, false),
            (Role::Host, None, true, true, true),
            (Role::Host, Some(&["show"][..]), true, true, true),
            (Role::Host, Some(&["other"][..]), false, false, false),
            (Role::Service, Some(&["other"][..]), true, true, true),
        ] {
            let is = (may(role, items, Needs::Anybody), may(role, items, Needs::Person), may(role, items, Needs::Host));
            assert_eq!(is, (anybody, person, host), "{role:?} {items:?}");
        }
    }

    #[test]
    fn a_closed_chat_is_closed_for_viewers_and_open_for_its_hosts() {
        let settings = ItemSettings { comments_mode: CommentsMode::Closed, ..ItemSettings::default() };
        let view = ItemView::create(ItemId::parse("show").unwrap(), settings, Millis(0));
        assert!(check_chat(&caller(Role::Viewer, None), &view).is_err());
        assert!(check_chat(&caller(Role::Host, None), &view).is_ok());
        assert!(check_chat(&caller(Role::Host, Some(&["other"])), &view).is_err());
    }
}
