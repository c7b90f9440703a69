//! Tokens that must not pass, and the development key. Time is a value.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::*;
use crate::config::Config;
use crate::protocol::ItemId;

const KEY: &str = "0123456789abcdef0123456789abcdef";
const NOW: Millis = Millis(1_800_000_000_000);

fn auth(args: &[&str]) -> Auth {
    let config = Config::from_layers([&["heartline"], args].concat(), &|_| None).unwrap();
    Auth::open(&config.auth, Path::new("/nowhere")).unwrap()
}

fn keyed() -> Auth {
    auth(&["--jwt-secret", KEY])
}

fn sign(header: &Header, claims: &Value, key: &str) -> String {
    install_provider();
    jsonwebtoken::encode(header, claims, &EncodingKey::from_secret(key.as_bytes()).unwrap()).unwrap()
}

/// A token that is good but for what `change` says.
fn token(change: Value) -> String {
    let mut claims = json!({"sub": "ann", "role": "viewer", "exp": NOW.0 / 1_000 + 60});
    for (key, value) in change.as_object().unwrap() {
        match value {
            Value::Null => drop(claims.as_object_mut().unwrap().remove(key)),
            value => drop(claims.as_object_mut().unwrap().insert(key.clone(), value.clone())),
        }
    }
    sign(&Header::new(Algorithm::HS256), &claims, KEY)
}

/// Scenario: a good token. Method: every claim arrives in the caller.
#[test]
fn a_good_token_says_who_may_what_where() {
    let token = token(json!({"role": "host", "items": ["a", "b"], "name": " Ann ", "aud": "elsewhere", "new": [1]}));
    let caller = keyed().verify(&token, NOW).unwrap();
    assert_eq!((caller.user.as_str(), caller.role, caller.name.as_deref()), ("ann", Role::Host, Some("Ann")));
    assert!(caller.hosts(&ItemId::parse("a").unwrap()) && !caller.hosts(&ItemId::parse("c").unwrap()));
    assert_eq!(caller.expires, Millis(NOW.0 + 60_000));
}

/// Scenario: a token in use after its end, or before its time. Method: the same token at other times.
#[test]
fn an_expired_token_does_not_pass() {
    let auth = keyed();
    let token_until = |exp: Value| token(json!({"exp": exp}));
    assert_eq!(auth.verify(&token_until(json!(NOW.0 / 1_000)), NOW), Err(AuthError::Expired));
    assert_eq!(auth.verify(&token_until(json!(-5)), NOW), Err(AuthError::Expired));
    assert!(auth.verify(&token_until(json!(NOW.0 / 1_000 + 1)), NOW).is_ok());
    assert!(auth.verify(&token_until(json!(NOW.0 as f64 / 1_000.0 + 0.5)), NOW).is_ok());
    assert_eq!(auth.verify(&token(json!({"nbf": NOW.0 / 1_000 + 1})), NOW), Err(AuthError::Early));
}

/// Scenario: forged tokens. Method: another key, another HMAC, `none`, a changed payload, a cut signature, noise.
#[test]
fn a_forged_token_does_not_pass() {
    let auth = keyed();
    let claims = json!({"sub": "eve", "role": "service", "exp": NOW.0 / 1_000 + 60});
    let good = token(json!({}));
    let mut parts = good.split('.');
    let (head, signature) = (parts.next().unwrap(), parts.next_back().unwrap());
    let body =
        sign(&Header::default(), &claims, "another key of thirty-two bytes!").split('.').nth(1).unwrap().to_owned();
    // {"alg":"none"} and {"alg":"None","typ":"JWT"} in base64.
    let none = ["eyJhbGciOiJub25lIn0", "eyJhbGciOiJOb25lIiwidHlwIjoiSldUIn0"];
    let mut forged = vec![
        sign(&Header::default(), &claims, "another key of thirty-two bytes!"),
        sign(&Header::new(Algorithm::HS384), &claims, KEY),
        sign(&Header::new(Algorithm::HS512), &claims, KEY),
        format!("{head}.{body}.{signature}"),
        format!("{head}.{body}."),
        good[..good.len() - 5].to_owned(),
        String::new(),
        "a.b.c".to_owned(),
        "x".repeat(TOKEN_MAX_BYTES + 1),
    ];
    forged.extend(none.iter().flat_map(|head| [format!("{head}.{body}."), format!("{head}.{body}.{signature}")]));
    for token in forged {
        assert_eq!(auth.verify(&token, NOW), Err(AuthError::Forged), "{token}");
    }
}

/// Scenario: signed, but its claims are not allowed. Method: one wrong claim at a time.
#[test]
fn claims_that_are_not_allowed_do_not_pass() {
    let auth = keyed();
    for wrong in [
        json!({"sub": null}),
        json!({"sub": ""}),
        json!({"sub": "a\nb"}),
        json!({"sub": "x".repeat(129)}),
        json!({"sub": 7}),
        json!({"exp": null}),
        json!({"exp": "soon"}),
        json!({"role": null}),
        json!({"role": "admin"}),
        json!({"items": ["a", "a/b"]}),
        json!({"items": "a"}),
        json!({"name": "a\u{202E}b"}),
        json!({"name": "x".repeat(201)}),
    ] {
        assert!(matches!(auth.verify(&token(wrong.clone()), NOW), Err(AuthError::Claim(_))), "{wrong}");
    }
}

/// Scenario: somebody with an account looks like an anonymous person, or the reverse. Method: prefix and role crossed.
#[test]
fn the_anonymous_prefix_and_role_go_together_only() {
    let auth = keyed();
    for role in ["viewer", "host", "service"] {
        assert!(auth.verify(&token(json!({"sub": "anon:1", "role": role})), NOW).is_err(), "{role}");
    }
    assert!(auth.verify(&token(json!({"role": "anonymous"})), NOW).is_err());
    assert!(auth.verify(&token(json!({"sub": "anon:1", "role": "anonymous"})), NOW).is_ok());
}

/// Scenario: the server's own tokens. Method: what it issues it accepts, until the end and no longer; each is somebody new.
#[test]
fn an_anonymous_token_is_good_for_a_day() {
    let auth = keyed();
    let (one, two) = (auth.anonymous(NOW).unwrap(), auth.anonymous(NOW).unwrap());
    assert_ne!(one.caller.user, two.caller.user);
    assert_eq!(auth.verify(&one.token, NOW).as_ref(), Ok(&one.caller));
    let end = Millis(NOW.0 + 24 * 60 * 60 * 1_000);
    assert!(auth.verify(&one.token, Millis(end.0 - 1)).is_ok());
    assert_eq!(auth.verify(&one.token, end), Err(AuthError::Expired));
    let denied = self::auth(&["--jwt-secret", KEY, "--anonymous", "deny"]);
    assert!(matches!(denied.verify(&one.token, NOW), Err(AuthError::Claim(_))));
}

/// Scenario: development mode over two runs. Method: open twice; look at the file; then damage it.
#[test]
fn the_development_key_is_kept_and_is_its_owners_alone() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let config = AuthConfig { secret: None, anonymous_allowed: true };
    let first = Auth::open(&config, &data).unwrap();
    let token = first.anonymous(NOW).unwrap().token;
    let file = data.join("dev.key");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(Auth::open(&config, &data).unwrap().verify(&token, NOW).is_ok());
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::read(&file).unwrap().len(), 32);

    let other = Auth::open(&config, &folder.path().join("other")).unwrap();
    assert_eq!(other.verify(&token, NOW), Err(AuthError::Forged));
    std::fs::write(&file, b"short").unwrap();
    assert!(matches!(Auth::open(&config, &data), Err(KeyError::NotAKey(_))));
}
