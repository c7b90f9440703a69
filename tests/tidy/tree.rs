//! The tree as it is: every text file but what `.gitignore` names, so that a checkout and an unpacked archive are read alike.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// One file.
pub struct File {
    /// From the root, with `/`.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// All text files, in the order of their paths.
pub fn read() -> Vec<File> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let ignored = ignored(&fs::read_to_string(root.join(".gitignore")).unwrap());
    let mut files = Vec::new();
    walk(root, root, &ignored, &mut files);
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

/// The names in a `.gitignore` that has plain names only, as this project's has.
fn ignored(text: &str) -> BTreeSet<String> {
    let names = text.lines().map(|line| line.trim().trim_matches('/')).filter(|name| !name.is_empty());
    names.map(str::to_owned).chain([".git".to_owned()]).collect()
}

fn walk(root: &Path, folder: &Path, ignored: &BTreeSet<String>, files: &mut Vec<File>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if ignored.contains(&*entry.file_name().to_string_lossy()) {
            continue;
        }
        if kind.is_dir() {
            walk(root, &path, ignored, files);
        } else if kind.is_file()
            && let Ok(text) = fs::read_to_string(&path)
        {
            // What is not UTF-8 is a picture or the like.
            let path = path.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/");
            files.push(File { path, text });
        }
    }
}

/// Scenario: the walk misses folders, and every rule is kept by files that are not read. Method: some files that must be there.
#[test]
fn the_tree_is_read_whole_and_without_what_is_built() {
    let paths: Vec<String> = read().into_iter().map(|file| file.path).collect();
    for known in ["Cargo.toml", "src/lib.rs", "src/room/actor.rs", "tests/tidy.rs", "tests/tidy/tree.rs"] {
        assert!(paths.iter().any(|path| path == known), "{known} was not read");
    }
    assert!(!paths.iter().any(|path| path.starts_with("target/") || path.contains("node_modules/")));
}
