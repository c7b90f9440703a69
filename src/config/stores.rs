//! Which stores: embedded ones in the data folder, or Redis and MongoDB.

use std::fmt;

use super::error::ConfigError;

/// The distributed stores, if they are used; only together: one alone would promise less than either pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoresConfig {
    /// `redis://`, or `rediss://` for TLS.
    pub redis_url: StoreUrl,
    /// `mongodb://`, with the database's name.
    pub mongodb_url: StoreUrl,
}

impl StoresConfig {
    /// `None`: embedded.
    pub(super) fn validate(
        redis_url: Option<String>,
        mongodb_url: Option<String>,
    ) -> Result<Option<Self>, ConfigError> {
        match (redis_url, mongodb_url) {
            (None, None) => Ok(None),
            (Some(redis), Some(mongodb)) => Ok(Some(Self {
                redis_url: url("redis_url", redis, &["redis://", "rediss://"])?,
                mongodb_url: url("mongodb_url", mongodb, &["mongodb://"])?,
            })),
            (Some(_), None) => Err(ConfigError::bad("mongodb_url", "is needed beside --redis-url")),
            (None, Some(_)) => Err(ConfigError::bad("redis_url", "is needed beside --mongodb-url")),
        }
    }
}

fn url(field: &str, text: String, schemes: &[&str]) -> Result<StoreUrl, ConfigError> {
    if text.starts_with("mongodb+srv://") {
        // Its look-up needs a resolver of its own, which is larger than the rest of the driver.
        return Err(ConfigError::bad(
            field,
            "mongodb+srv:// is not in this build; name the hosts: mongodb://HOST,HOST/DATABASE?replicaSet=NAME&tls=true",
        ));
    }
    if schemes.iter().any(|scheme| text.starts_with(scheme)) {
        Ok(StoreUrl(text))
    } else {
        Err(ConfigError::bad(field, format!("does not begin with {}", schemes.join(" or "))))
    }
}

/// A URL that does not show its password in logs.
#[derive(Clone, PartialEq, Eq)]
pub struct StoreUrl(String);

impl StoreUrl {
    /// The whole of it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Without what stands before the `@`.
impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0.split_once("://"), self.0.rsplit_once('@')) {
            (Some((scheme, _)), Some((_, rest))) => write!(f, "{scheme}://…@{rest}"),
            _ => f.write_str(&self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_not_shown() {
        let url = url("redis_url", "redis://ann:secret@host:6379/0".to_owned(), &["redis://"]).unwrap();
        assert_eq!(format!("{url} {url:?}"), "redis://…@host:6379/0 redis://…@host:6379/0");
    }

    #[test]
    fn one_distributed_store_alone_is_refused_by_the_others_name() {
        let validate = |redis: Option<&str>, mongodb: Option<&str>| {
            StoresConfig::validate(redis.map(str::to_owned), mongodb.map(str::to_owned)).map_err(|e| e.to_string())
        };
        assert_eq!(validate(None, None), Ok(None));
        assert!(validate(Some("redis://h"), Some("mongodb://h/db")).is_ok_and(|stores| stores.is_some()));
        assert!(validate(Some("rediss://h"), Some("mongodb://h/db")).is_ok_and(|stores| stores.is_some()));
        let srv = validate(Some("redis://h"), Some("mongodb+srv://h/db")).unwrap_err();
        assert!(srv.contains("mongodb_url") && srv.contains("name the hosts"), "{srv}");
        assert!(validate(Some("redis://h"), None).is_err_and(|why| why.contains("mongodb_url")));
        assert!(validate(None, Some("mongodb://h/db")).is_err_and(|why| why.contains("redis_url")));
        assert!(validate(Some("http://h"), Some("mongodb://h/db")).is_err_and(|why| why.contains("redis_url")));
    }
}
