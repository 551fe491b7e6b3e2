//! List of the generated workloads, and a workload with its parameters.

use std::collections::BTreeMap;
use std::fmt;

use atoms_model::Config;

use super::closed_loop::{ClosedLoop, Pacing};
use super::parameter::{ParameterSet, WorkloadParameter, WorkloadValue, parameters};
use super::program::{SetUp, Threads, WarpProgram, WorkloadError};
use super::threads::accumulate::Accumulate;
use super::threads::contend::Contend;
use super::threads::hash_insert::HashInsert;
use super::threads::lock::{SpinLock, TicketLock};
use super::threads::pipeline::Stages;
use super::threads::queue::Queue;
use super::threads::sum::{Histogram, Reduction};

parameters! {
    /// Parameters of every generated workload.
    Common {
        /// Number of warps that make requests.
        warps: u32 = 8, 1..=64;
        /// Number of lanes per warp that take part, the lowest first; 0: all lanes of the unit.
        lanes: u32 = 0, 0..=32;
        /// Units of work per lane; for `pipeline`, tiles in total.
        units: u32 = 64, 1..=1000000;
        /// Mean cycles between a warp's units of work, drawn evenly from 0 to twice the mean.
        think: u32 = 0, 0..=100000;
        /// Cycles from an answer to the request that depends on it. Some workloads have no such request.
        compute: u32 = 4, 0..=10000;
    }
}

trait Generate: ParameterSet + fmt::Debug + Send + Sync {
    fn generate(&self, set_up: &SetUp<'_>) -> Result<Box<dyn WarpProgram>, WorkloadError>;
    fn copied(&self) -> Box<dyn Generate>;
}

macro_rules! generators {
    ($( $type:ident, $name:literal, $unit:literal, $about:literal; )*) => {
        $( impl Generate for $type {
            fn generate(&self, set_up: &SetUp<'_>) -> Result<Box<dyn WarpProgram>, WorkloadError> {
                Ok(Box::new(self.program(set_up)?))
            }

            fn copied(&self) -> Box<dyn Generate> {
                Box::new(*self)
            }
        } )*

        pub const GENERATED: &[GeneratedKind] = &[ $( GeneratedKind {
            name: $name,
            unit: $unit,
            about: $about,
            new: || Box::new($type::default()),
        }, )* ];
    };
}

generators! {
    Contend, "contend", "one operation of a lane",
        "lanes contend for one word or for one bank";
    Histogram, "histogram", "one element counted",
        "lanes count elements in bins";
    Reduction, "reduction", "one value added",
        "values of all lanes are added up in accumulators";
    Accumulate, "accumulate", "one value added",
        "addition that the unit has no atomic for, by a loop around a compare-and-store";
    SpinLock, "spin-lock", "one critical section",
        "a spin lock, taken by a compare-and-store, protects a load and a store";
    TicketLock, "ticket-lock", "one critical section",
        "a ticket lock, entered in the order of the tickets, protects a load and a store";
    HashInsert, "hash-insert", "one key inserted",
        "keys are inserted into a table with linear probing";
    Queue, "queue", "one element through the queue",
        "producers and consumers share a queue, a ring of numbered slots";
    Stages, "pipeline", "one tile through the pipeline",
        "producer warps fill stages, consumer warps read them, synchronized by mbarriers";
}

#[derive(Debug)]
pub struct GeneratedKind {
    pub name: &'static str,
    /// Definition of one unit of work.
    pub unit: &'static str,
    pub about: &'static str,
    new: fn() -> Box<dyn Generate>,
}

impl GeneratedKind {
    /// Returns the workload's own parameters, without [`common_parameters`].
    pub fn parameters(&self) -> &'static [WorkloadParameter] {
        (self.new)().parameters()
    }
}

pub fn common_parameters() -> &'static [WorkloadParameter] {
    Common::default().parameters()
}

#[derive(Debug)]
pub struct Generated {
    kind: &'static GeneratedKind,
    common: Common,
    own: Box<dyn Generate>,
}

impl Clone for Generated {
    fn clone(&self) -> Self {
        Generated { kind: self.kind, common: self.common, own: self.own.copied() }
    }
}

impl Generated {
    /// Creates the workload `name` with default parameters.
    ///
    /// # Errors
    /// [`WorkloadError::Unknown`].
    pub fn named(name: &str) -> Result<Self, WorkloadError> {
        let kind = GENERATED.iter().find(|kind| kind.name == name).ok_or_else(|| {
            WorkloadError::Unknown(name.to_string(), GENERATED.iter().map(|kind| kind.name).collect())
        })?;
        Ok(Generated { kind, common: Common::default(), own: (kind.new)() })
    }

    pub fn kind(&self) -> &'static GeneratedKind {
        self.kind
    }

    /// Sets an own or a common parameter.
    ///
    /// # Errors
    /// [`WorkloadError::NoParameter`] or [`WorkloadError::Value`]; the workload is then unchanged.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), WorkloadError> {
        let parameters = || self.kind.parameters().iter().chain(common_parameters());
        match self.common.set(name, text).or_else(|| self.own.set(name, text)) {
            Some(true) => Ok(()),
            Some(false) => {
                let parameter = parameters().find(|parameter| parameter.name == name);
                let (name, expected) =
                    parameter.map_or(("", String::new()), |found| (found.name, found.kind.expected()));
                Err(WorkloadError::Value(name, text.to_string(), expected))
            }
            None => {
                let known = parameters().map(|parameter| parameter.name).collect();
                Err(WorkloadError::NoParameter(self.kind.name, name.to_string(), known))
            }
        }
    }

    /// Sets the parameters that a user states. Each parameter must be stated once and have an effect.
    ///
    /// # Errors
    /// Like [`Generated::set`]; also [`WorkloadError::Twice`] and [`WorkloadError::NoEffect`].
    pub fn set_all<'a>(
        &mut self,
        settings: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<(), WorkloadError> {
        let mut stated = BTreeMap::new();
        for (name, text) in settings {
            self.set(name, text)?;
            if let Some(before) = stated.insert(name, text) {
                return Err(WorkloadError::Twice(name.to_string(), before.to_string(), text.to_string()));
            }
        }
        stated.into_keys().find_map(|name| self.no_effect(name)).map_or(Ok(()), Err)
    }

    /// Returns [`WorkloadError::NoEffect`] if a parameter has no effect with the present settings.
    pub fn no_effect(&self, name: &str) -> Option<WorkloadError> {
        let change = self.own.needs(name)?;
        let parameter = self.settings().find(|(parameter, _)| parameter.name == name)?.0.name;
        Some(WorkloadError::NoEffect { workload: self.kind.name, parameter, change })
    }

    /// Returns every parameter with its value, own parameters first.
    pub fn settings(&self) -> impl Iterator<Item = (&'static WorkloadParameter, WorkloadValue)> + '_ {
        let own = self.own.parameters().iter().zip(self.own.values());
        own.chain(self.common.parameters().iter().zip(self.common.values()))
    }

    /// Creates the warps for a unit of `config`. They stop after `watchdog_cycles` without progress, or
    /// `limit` cycles.
    ///
    /// # Errors
    /// [`WorkloadError`] if parameters contradict each other or the unit does not support them.
    pub fn stimulus(
        &self,
        config: &Config,
        seed: u64,
        watchdog_cycles: u64,
        limit: u64,
    ) -> Result<ClosedLoop, WorkloadError> {
        let common = self.common;
        let lanes = if common.lanes == 0 { config.num_lanes } else { common.lanes };
        if lanes > config.num_lanes {
            return Err(WorkloadError::Combination(format!(
                "{lanes} lanes take part, but the unit has {}; use fewer `lanes`, or 0 for all",
                config.num_lanes
            )));
        }
        let threads = Threads { warps: common.warps as usize, lanes };
        let set_up = SetUp { threads, units: common.units, compute: common.compute, config, seed };
        let program = self.own.generate(&set_up)?;
        let pacing = Pacing { think: common.think, compute: common.compute, watchdog_cycles, limit };
        Ok(ClosedLoop::new(program, threads.warps, pacing, seed, config))
    }
}
