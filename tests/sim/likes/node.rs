//! One node: the real service and recounts, and a journal that is offered.

use std::sync::Arc;
use std::time::Duration;

use heartline::likes::Likes;
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
    work: Arc<Work>,
}

impl Node {
    pub fn start(world: &Arc<World>, number: usize) -> Self {
        let reach = Arc::new(Reach { world: world.clone(), node: number });
        let likes = Likes::new(reach.clone(), reach.clone(), reach.clone(), writer_of(number), Handle::current());
        let side = Arc::new(likes.clone());
        let (fence, facts) = (reach.clone(), reach.clone());
        let recounts = Recounts { fence, facts, side, writer: writer_of(number) };
        let work = Arc::new(Work::new(recounts, Arc::<ReconcileStats>::default()));
        tokio::spawn(offer(reach));
        tokio::spawn(look(world.clone(), work.clone(), number));
        Self { number, world: world.clone(), likes, work }
    }

    pub fn like(&self, user: UserId, liked: bool) {
        let (likes, item) = (self.likes.clone(), self.world.item.clone());
        tokio::spawn(async move { drop(likes.set(&item, user, liked).await) });
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
