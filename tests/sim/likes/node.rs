//! One node: the real service and recounts, and a journal that is offered.

use std::sync::Arc;
use std::time::Duration;

use heartline::likes::{LikeReads, Likes, ReadStats};
use heartline::protocol::UserId;
use heartline::reconcile::recount::Recounts;
use heartline::reconcile::work::Work;
use heartline::reconcile::{ReconcileStats, Recounted};
use heartline::store::hot::LikeFence;
use tokio::runtime::Handle;
use tokio::time::sleep;

use super::stores::Reach;
use super::world::{Guard, World, writer_of};

pub struct Node {
    pub number: usize,
    world: Arc<World>,
    likes: Likes,
    reads: Arc<LikeReads>,
    pub stats: Arc<ReadStats>,
    work: Arc<Work>,
}

impl Node {
    pub fn start(world: &Arc<World>, number: usize) -> Self {
        let reach = Arc::new(Reach { world: world.clone(), node: number });
        let likes = Likes::new(reach.clone(), reach.clone(), reach.clone(), writer_of(number), Handle::current());
        let side = Arc::new(likes.clone());
        let stats = Arc::<ReadStats>::default();
        let reads = Arc::new(LikeReads::new(reach.clone(), reach.clone(), stats.clone()));
        let (hot, facts) = (reach.clone(), reach.clone());
        let recounts = Recounts { hot, facts, side, writer: writer_of(number) };
        let work = Arc::new(Work::new(recounts, Arc::<ReconcileStats>::default()));
        tokio::spawn(offer(reach));
        tokio::spawn(look(world.clone(), work.clone(), number));
        Self { number, world: world.clone(), likes, reads, stats, work }
    }

    /// Likes, or takes it back; `reader` then asks what they like.
    pub fn like(&self, user: UserId, liked: bool, reader: &Self) {
        let (likes, world, reads) = (self.likes.clone(), self.world.clone(), reader.reads.clone());
        tokio::spawn(async move {
            // Of acts of one person that are under way together nobody says which is the last.
            let (act, is_alone) = {
                let mut acts = world.acts.lock();
                let (begun, under_way) = acts.entry(user.clone()).or_default();
                (*begun, *under_way) = (*begun + 1, *under_way + 1);
                (*begun, *under_way == 1)
            };
            let told = likes.set(&world.item, user.clone(), liked).await;
            if told.is_ok() {
                // Only those whose outcome is known are over.
                world.acts.lock().entry(user.clone()).and_modify(|(_, under_way)| *under_way -= 1);
            }
            let is_last = |world: &World| world.acts.lock().get(&user) == Some(&(act, 0));
            if told.is_ok() && is_alone && is_last(&world) {
                let read = is_liked(&reads, &world, &user).await;
                world.tell(|| format!("act {act} of {user}: read {read:?}"));
                if is_last(&world) && world.reads_own_writes() {
                    world.saw("read after an answer");
                    let wrong = read.iter().any(|read| *read != liked);
                    if wrong {
                        let told = format!("{user}: told {liked}, then read {read:?}");
                        world.wrong.lock().get_or_insert(told);
                    }
                }
            }
        });
    }

    /// Whether somebody is told something else than the facts say. A mark of before a fall of the hot store is good for a minute, of the
    /// machine's time and not of the world's: then nothing that is kept is asked.
    pub async fn reads_wrong(&self, people: usize) -> Option<String> {
        let reach = Arc::new(Reach { world: self.world.clone(), node: self.number });
        let afresh = LikeReads::new(reach.clone(), reach, Arc::default());
        let reads = if self.world.reads_own_writes() { &self.reads } else { &afresh };
        for n in 0..people {
            let user = UserId::parse(&format!("u{n}")).unwrap();
            let (read, fact) = (is_liked(reads, &self.world, &user).await, self.world.liking().contains(&user));
            if read.iter().any(|read| *read != fact) {
                return Some(format!("{user} is told {read:?}, the fact is {fact}"));
            }
        }
        None
    }

    pub fn recount(&self) {
        let (world, work, number) = (self.world.clone(), self.work.clone(), self.number);
        tokio::spawn(async move {
            world.pass(number).await;
            let likes_wait = !world.fence.lock().entries(1).is_empty();
            if let Ok(recounted) = work.on_demand(&world.item).await {
                note(&world, recounted);
                if likes_wait {
                    world.saw("recount under load");
                }
            } else {
                world.saw("recount given up");
            }
        });
    }
}

/// As a page tells it, and as an opening socket is told.
async fn is_liked(reads: &LikeReads, world: &World, user: &UserId) -> [bool; 2] {
    let among = reads.liked_among(user, std::slice::from_ref(&world.item)).await.unwrap();
    let likers = reads.likers_among(&world.item, std::slice::from_ref(user)).await.unwrap();
    [!among.is_empty(), !likers.is_empty()]
}

fn note(world: &World, recounted: Recounted) {
    if recounted.repaired != 0 {
        world.saw("recount that moved the counter");
    }
}

async fn look(world: Arc<World>, work: Arc<Work>, number: usize) {
    loop {
        sleep(Duration::from_secs(1)).await;
        world.pass(number).await;
        let _ = work.look().await;
    }
}

/// Offers what the hot store does not have. Where it has lost something the item is recounted: asked for before it is given again, in case
/// the node dies, and when it stands again, in case the store falls back once more.
async fn offer(reach: Arc<Reach>) {
    let (world, n) = (reach.world.clone(), reach.node);
    let (mut acked, mut lost) = (0, false);
    loop {
        sleep(Duration::from_millis(20)).await;
        world.pass(n).await;
        let fell_back = world.counter.lock().taken[n] < acked;
        if fell_back && world.without != Some(Guard::Lost) {
            lost = true;
            while reach.ask_recount(&world.item).await.is_err() {}
        }
        acked = world.counter.lock().take_all(n);
        if lost && reach.ask_recount(&world.item).await.is_ok() {
            lost = world.counter.lock().taken[n] < acked;
        }
    }
}
