//! The scripts, as they are sent: each with the functions that it shares with others in front.

use ::redis::{Cmd, cmd};

/// A script and the hash that it is called by.
pub(super) struct Script {
    code: &'static str,
    hash: String,
}

/// All that the store runs.
pub(super) struct Scripts {
    pub step: Script,
    pub claim: Script,
    pub align: Script,
    pub let_go: Script,
    pub lease: Script,
    pub fence: Script,
    pub filter: Script,
}

macro_rules! script {
    ($($file:literal),+) => { Script::new(concat!($(include_str!(concat!("scripts/", $file))),+)) };
}

impl Scripts {
    pub fn new() -> Self {
        Self {
            step: script!("numbers.lua", "item.lua", "presence.lua", "step.lua"),
            claim: script!("numbers.lua", "item.lua", "claim.lua"),
            align: script!("numbers.lua", "item.lua", "align.lua"),
            let_go: script!("numbers.lua", "item.lua", "let_go.lua"),
            lease: script!("lease.lua"),
            fence: script!("fence.lua"),
            filter: script!("filter.lua"),
        }
    }

    /// Brings them all to a server. Done on every new connection, and when a server says that it has lost one.
    pub fn loading(&self) -> Vec<Cmd> {
        let scripts = [&self.step, &self.claim, &self.align, &self.let_go, &self.lease, &self.fence, &self.filter];
        scripts.map(Script::loading).to_vec()
    }
}

impl Script {
    fn new(code: &'static str) -> Self {
        Self { code, hash: ::redis::Script::new(code).get_hash().to_owned() }
    }

    fn loading(&self) -> Cmd {
        let mut load = cmd("SCRIPT");
        load.arg("LOAD").arg(self.code);
        load
    }
}

/// The beginning of a call: the script by its hash, and its keys.
pub(super) fn call(script: &Script, keys: &[&str]) -> Cmd {
    let mut call = cmd("EVALSHA");
    call.arg(&script.hash).arg(keys.len()).arg(keys);
    call
}
