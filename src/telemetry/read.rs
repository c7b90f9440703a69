//! Metrics whose numbers live with somebody else: an atomic in a store, the length of a table. They are read when they are asked for.

use std::fmt;

use super::metrics::Label;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

/// Where a number is read. Cheap and never waiting: it runs while somebody scrapes.
pub type Read<N> = Box<dyn Fn() -> N + Send + Sync>;

/// A sample: its label, if it has one, and where it is read.
pub(super) struct Sample<N> {
    pub label: Label,
    pub read: Read<N>,
}

/// One family of samples under one name.
pub(super) struct ReadCounters {
    /// Without prefix and without `_total`, which the format adds.
    pub name: &'static str,
    pub help: &'static str,
    pub samples: Vec<Sample<u64>>,
}

/// The same for what may fall.
pub(super) struct ReadGauges {
    pub name: &'static str,
    pub help: &'static str,
    pub samples: Vec<Sample<f64>>,
}

impl Collector for ReadCounters {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        encode(encoder, self.name, self.help, MetricType::Counter, &self.samples, ConstCounter::new)
    }
}

impl Collector for ReadGauges {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        encode(encoder, self.name, self.help, MetricType::Gauge, &self.samples, ConstGauge::new)
    }
}

fn encode<N, M: EncodeMetric>(
    mut encoder: DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    kind: MetricType,
    samples: &[Sample<N>],
    metric: impl Fn(N) -> M,
) -> fmt::Result {
    let mut family = encoder.encode_descriptor(name, help, None, kind)?;
    for sample in samples {
        let value = metric((sample.read)());
        match &sample.label {
            Some((name, label)) => value.encode(family.encode_family(&[(*name, label.as_str())])?)?,
            None => {
                // An encoder is used up by one sample; a family without labels has but one.
                return value.encode(family);
            }
        }
    }
    Ok(())
}

impl fmt::Debug for ReadCounters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl fmt::Debug for ReadGauges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
