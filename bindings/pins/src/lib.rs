//! Model, random stimulus and coverage for a testbench, with checked pins. An error is the text for the caller.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

use std::path::Path;

use atoms_coverage::{CoverageFile, CoverageFileError, Group, Map, Model, Sampler};
use atoms_model::memory_port::word_index;
use atoms_model::port::{Field, In, Out, Pins, Probe, Shape};
use atoms_model::{Config, Unit};
use atoms_monitor::{Listener as _, Monitor};
use atoms_stimulus::configs::NamedConfig;
use atoms_stimulus::unit::ForeignUnit;
use atoms_stimulus::{Profile, RandomStimulus, Stimulus, complete_handshakes};

use bitvec::vec::BitVec;

use atoms_scoreboard::arguments::range;

/// Check that the pins of a caller fit the ports of a configuration.
#[derive(Debug)]
struct PinCheck<P> {
    fields: &'static [Field],
    /// Highest value of each pin.
    highest: P,
    /// Pins of the last check. Only changes are checked.
    last: P,
}

impl<P: Pins + Copy + Default> PinCheck<P> {
    fn new(fields: &'static [Field], config: &Config) -> Self {
        let mut highest = P::default();
        for (number, field) in fields.iter().enumerate() {
            let (elements, bits) = match field.shape {
                Shape::Scalar(bits) => (1, bits),
                Shape::LaneMask => (1, config.num_lanes),
                Shape::BankMask => (1, config.num_banks),
                Shape::PerLane(bits) => (config.num_lanes, bits),
                Shape::PerBank(bits) => (config.num_banks, bits),
            };
            for index in 0..elements as usize {
                highest.set_element(number, index, u128::MAX >> (128 - bits));
            }
        }
        PinCheck { fields, highest, last: P::default() }
    }

    fn check(&mut self, pins: &P) -> Result<(), String> {
        let mut wrong = None;
        pins.changes(Some(&self.last), |number, index, value| {
            let highest = self.highest.element(number, index);
            if value > highest {
                wrong.get_or_insert((number, index, value, highest));
            }
        });
        let Some((number, index, value, highest)) = wrong else {
            self.last = *pins;
            return Ok(());
        };
        let Field { name, shape, .. } = self.fields[number];
        let lane = matches!(shape, Shape::PerLane(_) | Shape::PerBank(_)).then(|| format!("[{index}]"));
        let lane = lane.unwrap_or_default();
        Err(format!("`{name}{lane}` is {value:#x}; expected at most {highest:#x} in this configuration"))
    }
}

/// Model of the unit, for a caller that drives its pins.
#[derive(Debug)]
pub struct PinModel {
    unit: Unit,
    check: PinCheck<In>,
}

impl PinModel {
    /// Creates a model in its reset state, with memory of zeros.
    pub fn new(config: Config) -> Self {
        PinModel { unit: Unit::new(config), check: PinCheck::new(In::FIELDS, &config) }
    }

    /// Returns the outputs of a cycle with these inputs. Changes no register.
    ///
    /// # Errors
    /// A pin is out of range.
    pub fn evaluate(&mut self, i: &In) -> Result<&Out, String> {
        self.check.check(i)?;
        Ok(self.unit.evaluate(i))
    }

    /// Runs one cycle with these inputs. Returns the outputs before the clock edge.
    ///
    /// # Errors
    /// A pin is out of range.
    pub fn step(&mut self, i: &In) -> Result<&Out, String> {
        self.check.check(i)?;
        Ok(self.unit.clock(i))
    }

    /// Returns the word at byte address `4 * word`.
    ///
    /// # Errors
    /// The memory has fewer words.
    pub fn word(&self, word: u32) -> Result<u32, String> {
        Ok(self.unit.memory()[self.place(word)?])
    }

    /// Sets the word at byte address `4 * word`.
    ///
    /// # Errors
    /// The memory has fewer words.
    pub fn set_word(&mut self, word: u32, value: u32) -> Result<(), String> {
        let place = self.place(word)?;
        self.unit.memory_mut()[place] = value;
        Ok(())
    }

    /// Returns the number of words of the memory.
    pub fn words(&self) -> u32 {
        self.unit.memory().len() as u32
    }

    fn place(&self, word: u32) -> Result<usize, String> {
        let (config, words) = (self.unit.config(), self.words());
        if word >= words {
            return Err(range("word", word.into(), words - 1));
        }
        Ok(word_index(config, word / config.num_banks, word % config.num_banks))
    }
}

/// Random stimulus for a caller that has a unit with pins.
#[derive(Debug)]
pub struct PinStimulus {
    stimulus: RandomStimulus,
    check: PinCheck<Out>,
    /// Inputs of the last cycle.
    pins: In,
    /// True after the first step.
    begun: bool,
}

impl PinStimulus {
    /// Creates stimulus for `requests` warp requests. `profile` is the name of a profile, or a profile as TOML, which
    /// has a `=`.
    ///
    /// # Errors
    /// The profile is unknown or malformed.
    pub fn new(config: &NamedConfig, profile: &str, seed: u64, requests: u64) -> Result<Self, String> {
        let profile = if profile.contains('=') {
            Profile::from_toml(profile).map_err(|error| format!("`profile`: {error}"))?
        } else {
            Profile::named(profile).map_err(|error| error.to_string())?
        };
        let stimulus = RandomStimulus::new(config.config, &config.limit(&profile), seed, requests);
        let check = PinCheck::new(Out::FIELDS, &config.config);
        Ok(PinStimulus { stimulus, check, pins: In::default(), begun: false })
    }

    /// Returns the inputs of the next cycle, given the outputs of the cycle before. The first call ignores `out`.
    ///
    /// # Errors
    /// The outputs are missing, or a pin is out of range.
    pub fn step(&mut self, out: Option<&Out>) -> Result<&In, String> {
        if self.begun {
            let out = out.ok_or("the outputs are missing; only the first step has none")?;
            self.check.check(out)?;
            self.stimulus.observe(&self.pins, out);
            complete_handshakes(&mut self.pins, out);
        }
        self.begun = true;
        self.stimulus.drive(&mut self.pins);
        Ok(&self.pins)
    }

    /// True if all requests have been offered. The last one may not be accepted yet, and requests may be in flight.
    pub fn finished(&self) -> bool {
        self.stimulus.finished()
    }
}

/// Functional coverage of a caller that has a unit with pins: the groups that the ports show.
#[derive(Debug)]
pub struct PinCoverage {
    name: String,
    checks: (PinCheck<In>, PinCheck<Out>),
    model: Model,
    monitor: Monitor,
    sampler: Sampler,
    cycle: u64,
    hits: Map,
    reachable: BitVec,
}

impl PinCoverage {
    /// Creates the coverage of a unit after reset, without hits.
    pub fn new(config: &NamedConfig) -> Self {
        let NamedConfig { name, config, unit, .. } = config;
        let whole = ForeignUnit::whole(name);
        let model = Model::standard();
        PinCoverage {
            name: name.clone(),
            checks: (PinCheck::new(In::FIELDS, config), PinCheck::new(Out::FIELDS, config)),
            monitor: Monitor::of_ports(),
            sampler: Sampler::of_ports(config),
            cycle: 0,
            hits: Map::new(model.bins()),
            reachable: model.reachable_by(config, Some(unit.as_deref().unwrap_or(&whole))),
            model,
        }
    }

    /// Samples the pins of the next cycle.
    ///
    /// # Errors
    /// A pin is out of range.
    pub fn sample(&mut self, i: &In, out: &Out) -> Result<(), String> {
        self.checks.0.check(i)?;
        self.checks.1.check(out)?;
        let probe = Probe::default();
        self.sampler.cycle(&self.monitor.cycle(self.cycle, i, out, &probe));
        self.cycle += 1;
        Ok(())
    }

    /// Returns each group that the unit can hit: name, bins hit, bins.
    pub fn groups(&mut self) -> Vec<(&'static str, usize, usize)> {
        self.collect();
        let counts = |group: &Group| {
            let bins = (group.first..group.first + group.len()).filter(|bin| self.reachable[*bin]);
            bins.fold((0, 0), |(hit, all), bin| (hit + usize::from(self.hits.hits(bin) > 0), all + 1))
        };
        let all = self.model.groups.iter().map(|group| (group.name, counts(group)));
        all.filter(|(_, (_, bins))| *bins > 0).map(|(name, (hit, bins))| (name, hit, bins)).collect()
    }

    /// Returns how many bins of a group, or of all groups, are hit, and how many the unit can hit.
    ///
    /// # Errors
    /// The group is unknown, or the ports do not show it.
    pub fn count(&mut self, name: Option<&str>) -> Result<(usize, usize), String> {
        let groups = self.groups();
        let known = || groups.iter().map(|(name, ..)| *name).collect::<Vec<_>>().join(", ");
        if let Some(name) = name.filter(|name| !groups.iter().any(|group| group.0 == *name)) {
            return Err(format!("no group is called `{name}`; there are {}", known()));
        }
        let chosen = groups.iter().filter(|group| name.is_none_or(|name| group.0 == name));
        Ok(chosen.fold((0, 0), |sum, (_, hit, bins)| (sum.0 + hit, sum.1 + bins)))
    }

    /// Returns the name and the hits of each bin of a group that the unit can hit.
    ///
    /// # Errors
    /// The group is unknown, or the ports do not show it.
    pub fn bins(&mut self, name: &str) -> Result<Vec<(String, u32)>, String> {
        self.count(Some(name))?;
        let groups = self.model.groups.iter().filter(|group| group.name == name);
        let bins = groups.flat_map(|group| (0..group.len()).map(move |at| (group, at)));
        let bins = bins.filter(|(group, at)| self.reachable[group.first + at]);
        Ok(bins.map(|(group, at)| (group.bin_name(at), self.hits.hits(group.first + at))).collect())
    }

    /// Writes a file that `atoms cover` merges.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&mut self, path: &Path) -> Result<(), CoverageFileError> {
        self.collect();
        CoverageFile::new(&self.name, &self.reachable, &self.hits).write(path)
    }

    fn collect(&mut self) {
        self.hits.merge(&self.sampler.take());
    }
}
