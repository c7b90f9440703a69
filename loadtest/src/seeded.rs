//! Random numbers that are the same for a seed on every machine and in every version.
//!
//! SplitMix64 (Steele, Lea, Flood 2014): eight lines that cannot change under a trace or a text that tests rely on, unlike the
//! sampling of a library. It is no source of secrets.

/// A stream of random numbers.
#[derive(Debug, Clone)]
pub struct Seeded(u64);

impl Seeded {
    /// The stream of a seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// 64 random bits.
    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number in `0..bound`; 0 where the bound is 0. The bias of the remainder is below 2^-40 for bounds under 2^24.
    pub const fn below(&mut self, bound: usize) -> usize {
        if bound == 0 { 0 } else { (self.bits() % bound as u64) as usize }
    }

    /// A number in `[0, 1)`, of 53 bits.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// One of the values; `None` where there are none.
    pub fn pick<T: Copy>(&mut self, values: &[T]) -> Option<T> {
        values.get(self.below(values.len())).copied()
    }

    /// Puts the values in a random order (Fisher-Yates).
    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        for i in (1..values.len()).rev() {
            values.swap(i, self.below(i + 1));
        }
    }

    /// A number of arrivals for a mean (Poisson, by Knuth's product of uniforms; for means below some hundreds).
    pub fn poisson(&mut self, mean: f64) -> usize {
        let floor = (-mean).exp();
        let mut product = self.unit();
        let mut arrivals = 0;
        while product > floor {
            product *= self.unit();
            arrivals += 1;
        }
        arrivals
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_published_stream() {
        // The first outputs of the reference implementation for seed 1234567.
        let mut random = Seeded::new(1_234_567);
        assert_eq!(random.bits(), 6_457_827_717_110_365_317);
        assert_eq!(random.bits(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn poisson_has_its_mean() {
        let mut random = Seeded::new(7);
        let sum: usize = (0..20_000).map(|_| random.poisson(13.0)).sum();
        assert!((sum as f64 / 20_000.0 - 13.0).abs() < 0.2, "{sum}");
    }
}
