//! Acts that a back end forwards for its users: each with the rights of a viewer, none with a viewer's rates.

use std::collections::HashMap;

use futures_util::future::join_all;

use super::{Act, Acts, Outcome};
use crate::auth::Caller;
use crate::protocol::{ApiError, Code, ItemId, Role, UserId};

/// Acts of one call, at most.
pub const FORWARDED_MAX: usize = 1_000;

/// What somebody did elsewhere.
#[derive(Debug, Clone)]
pub struct Forwarded {
    /// To what.
    pub item: ItemId,
    /// Who.
    pub user: UserId,
    /// What.
    pub act: Act,
}

impl Acts {
    /// Does them all and answers each in its place. Acts of one person are done in the order given; different people do not wait for
    /// each other.
    pub async fn forward(
        &self,
        caller: &Caller,
        acts: Vec<Forwarded>,
    ) -> Result<Vec<Result<Outcome, ApiError>>, ApiError> {
        if caller.role != Role::Service {
            return Err(ApiError::new(Code::Forbidden, "only a service forwards acts"));
        }
        let mut answers: Vec<_> = acts.iter().map(|_| Err(ApiError::new(Code::Internal, "was not done"))).collect();
        let mut of_people: HashMap<UserId, Vec<(usize, Forwarded)>> = HashMap::new();
        for (place, act) in acts.into_iter().enumerate() {
            of_people.entry(act.user.clone()).or_default().push((place, act));
        }
        let done = join_all(of_people.into_iter().map(|(user, acts)| self.forward_of(caller, user, acts))).await;
        for (place, answer) in done.into_iter().flatten() {
            if let Some(slot) = answers.get_mut(place) {
                *slot = answer;
            }
        }
        Ok(answers)
    }

    /// Taps and likes are handed over in order without waiting for each other's answers, which take a tick; a comment, which may look
    /// for its key first, waits for all before it.
    async fn forward_of(
        &self,
        service: &Caller,
        user: UserId,
        acts: Vec<(usize, Forwarded)>,
    ) -> Vec<(usize, Result<Outcome, ApiError>)> {
        let role = if user.is_anonymous() { Role::Anonymous } else { Role::Viewer };
        let person = Caller { user, role, items: None, name: None, expires: service.expires };
        let perform = |Forwarded { item, act, .. }: Forwarded| {
            let person = &person;
            async move { self.perform_rated(person, service.role, &item, act).await }
        };
        let mut answers = Vec::with_capacity(acts.len());
        let mut acts = acts.into_iter().peekable();
        while let Some((place, act)) = acts.next() {
            // An item's room is there before the next act of it is begun, so that none overtakes another on the way in.
            let alone = matches!(act.act, Act::Comment(_)) || self.registry.find(&act.item).is_none();
            if alone {
                answers.push((place, perform(act).await));
                continue;
            }
            let (mut places, mut run) = (vec![place], vec![perform(act)]);
            let joins =
                |act: &Forwarded| !matches!(act.act, Act::Comment(_)) && self.registry.find(&act.item).is_some();
            while let Some((place, act)) = acts.next_if(|(_, act)| joins(act)) {
                places.push(place);
                run.push(perform(act));
            }
            answers.extend(places.into_iter().zip(join_all(run).await));
        }
        answers
    }
}
