//! The key of development mode: random, made once, kept in the data folder for its owner alone.

use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rand::TryRng;
use rand::rngs::SysRng;

/// Bytes of the key: as many as HS256's hash has.
const KEY_BYTES: usize = 32;
const FILE: &str = "dev.key";

/// The key could not be read or made.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The folder or the file.
    #[error("development key {path}: {source}")]
    Io {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Somebody wrote something else there.
    #[error("development key {0}: is not a key; remove it to have a new one made")]
    NotAKey(PathBuf),
    /// The cryptography takes no such key.
    #[error("key refused")]
    Refused,
}

/// The key of this data folder.
pub(super) fn development(data_dir: &Path) -> Result<Vec<u8>, KeyError> {
    let path = data_dir.join(FILE);
    let made = || -> io::Result<Vec<u8>> {
        match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => make(data_dir, &path),
            Ok(key) => {
                // A backup that was put back may have opened it to others.
                fs::set_permissions(&path, Permissions::from_mode(0o600))?;
                Ok(key)
            }
            Err(error) => Err(error),
        }
    };
    let key = made().map_err(|source| KeyError::Io { path: path.clone(), source })?;
    if key.len() == KEY_BYTES { Ok(key) } else { Err(KeyError::NotAKey(path)) }
}

/// Written whole under another name first, so that no crash leaves half a key.
fn make(data_dir: &Path, path: &Path) -> io::Result<Vec<u8>> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(data_dir)?;
    let key = random()?;
    let draft = path.with_extension("key.new");
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
    file.write_all(&key)?;
    file.sync_all()?;
    fs::rename(&draft, path)?;
    fs::File::open(data_dir)?.sync_all()?;
    Ok(key)
}

/// From the system's generator, which an attacker cannot predict.
fn random() -> io::Result<Vec<u8>> {
    let mut key = vec![0; KEY_BYTES];
    SysRng.try_fill_bytes(&mut key).map_err(io::Error::other)?;
    Ok(key)
}
