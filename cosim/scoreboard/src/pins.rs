//! Model and random stimulus for a testbench, with checked pins. An error is the text for the caller.

use atoms_model::memory_port::word_index;
use atoms_model::port::{Field, In, Out, Pins, Shape};
use atoms_model::{Config, Unit};
use atoms_stimulus::{Profile, RandomStimulus, Stimulus, complete_handshakes};

use crate::arguments::range;

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
    pub fn new(config: Config, profile: &str, seed: u64, requests: u64) -> Result<Self, String> {
        let profile = if profile.contains('=') {
            Profile::from_toml(profile).map_err(|error| format!("`profile`: {error}"))?
        } else {
            Profile::named(profile).map_err(|error| error.to_string())?
        };
        let stimulus = RandomStimulus::new(config, &profile, seed, requests);
        let check = PinCheck::new(Out::FIELDS, &config);
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
