//! Both stores of the distributed installation together: the design's model over Redis and MongoDB, item by item and with the whole
//! Redis set back.

mod histories;
mod rolled_back;

use heartline::store::durable::mongodb::MongoStore;
use redis::Connection;

use crate::support::mongodb::settings;

/// Every key of every item, and a dump of each.
type Dumps = Vec<Vec<u8>>;

const DUMP: &str = "
    local dumps = {}
    for _, key in ipairs(redis.call('KEYS', '{hl:*')) do
      dumps[#dumps + 1] = key
      dumps[#dumps + 1] = redis.call('DUMP', key)
    end
    return dumps";

/// All items as they are now.
fn dump(raw: &mut Connection) -> Dumps {
    redis::cmd("EVAL").arg(DUMP).arg(0).query(raw).unwrap()
}

const RESTORE: &str = "
    for _, key in ipairs(redis.call('KEYS', '{hl:*')) do redis.call('DEL', key) end
    for i = 1, #ARGV, 2 do redis.call('RESTORE', ARGV[i], 0, ARGV[i + 1]) end";

/// All items as they were, at once.
fn restore(raw: &mut Connection, dumps: &Dumps) {
    redis::cmd("EVAL").arg(RESTORE).arg(0).arg(dumps).query::<()>(raw).unwrap();
}

/// In a database of the test's own.
async fn durable() -> MongoStore {
    MongoStore::open(&settings()).await.unwrap()
}
