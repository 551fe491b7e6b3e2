//! Pipeline of stages in shared memory. Producers fill stages, consumers read them, and mbarriers signal full
//! and free stages.

use atoms_model::mbarrier::MbarObject;
use atoms_ops::{Op, Size};

use crate::parameter::{named_values, parameters};
use crate::program::{
    Answer, Next, Placement, SetUp, Threads, WarpPort, WarpProgram, WorkCounts, WorkloadError, lanes_of,
};

named_values! {
    Arriving {
        One "one";
        All "all";
    }
}

parameters! {
    /// Parameters of a pipeline.
    Stages {
        /// Number of stages of the pipeline.
        depth: u32 = 4, 1..=1024;
        /// Warps that read the stages; the other warps fill them.
        consumers: u32 = 4, 1..=63;
        /// Lanes of a warp that arrive and wait.
        arrive: Arriving = Arriving::One, ();
        /// Time limit of a wait in cycles; 0: the unit's own limit.
        wait: u32 = 0, 0..=1000000;
    }
}

impl Stages {
    pub(crate) fn program(&self, set_up: &SetUp<'_>) -> Result<StagesProgram, WorkloadError> {
        let SetUp { threads, units, config, .. } = *set_up;
        let consumers = self.consumers as usize;
        let producers = set_up.producers(consumers)?;
        let help = "reduce `depth`, `warps` or `lanes`";
        let mut placement = Placement::new(config);
        let depth = u64::from(self.depth);
        let full = placement.words(2 * depth, "the mbarrier objects of full stages", help)?;
        let free = placement.words(2 * depth, "the mbarrier objects of free stages", help)?;
        let tile = producers as u32 * threads.lanes;
        let data = placement.words(depth * u64::from(tile), "the stages", help)?;
        let lanes = match self.arrive {
            Arriving::One => 1,
            Arriving::All => threads.lanes,
        };
        let object = |at: u32, warps: usize| {
            let word = MbarObject::init(warps as u32 * lanes).encode();
            [(at, word as u32), (at + 4, (word >> 32) as u32)]
        };
        let objects = |stage: u32| {
            [object(full + 8 * stage, producers), object(free + 8 * stage, consumers)].into_iter().flatten()
        };
        Ok(StagesProgram {
            settings: *self,
            threads,
            producers,
            full,
            free,
            data,
            tile,
            memory: (0..self.depth).flat_map(objects).collect(),
            units,
            state: vec![StageState { tile: 0, step: StageStep::Wait }; threads.warps],
            used: vec![0; self.depth as usize],
            wrong: None,
        })
    }
}

#[derive(Clone, Copy, Debug)]
enum StageStep {
    Wait,
    Move,
    Arrive,
}

#[derive(Clone, Copy, Debug)]
struct StageState {
    /// Tiles that the warp has filled or read.
    tile: u32,
    step: StageStep,
}

#[derive(Debug)]
pub(crate) struct StagesProgram {
    settings: Stages,
    threads: Threads,
    /// Number of producers. Producers are the lowest warps.
    producers: usize,
    /// Byte offsets: `full` and `free` are arrays of mbarrier objects, `data` is an array of stages of `tile`
    /// words.
    full: u32,
    free: u32,
    data: u32,
    tile: u32,
    memory: Vec<(u32, u32)>,
    /// Total number of tiles.
    units: u32,
    state: Vec<StageState>,
    /// Consumers that have read the current tile of each stage.
    used: Vec<u32>,
    wrong: Option<String>,
}

impl StagesProgram {
    fn produces(&self, warp: usize) -> bool {
        warp < self.producers
    }

    fn stage(&self, warp: usize) -> u32 {
        self.state[warp].tile % self.settings.depth
    }

    fn lanes(&self) -> u32 {
        match self.settings.arrive {
            Arriving::One => 1,
            Arriving::All => self.threads.mask(),
        }
    }

    /// Returns the address of a lane's word in the current stage. A consumer reads a word that one producer
    /// has written.
    fn word(&self, warp: usize, lane: usize) -> u32 {
        let writer = if self.produces(warp) { warp } else { (warp - self.producers) % self.producers };
        self.data + 4 * (self.stage(warp) * self.tile + self.threads.number(writer, lane))
    }

    /// Returns the value that the producer writes to the word at [`Self::word`].
    fn value(&self, warp: usize, lane: usize) -> u32 {
        let writer = if self.produces(warp) { warp } else { (warp - self.producers) % self.producers };
        self.state[warp].tile.wrapping_mul(self.tile).wrapping_add(self.threads.number(writer, lane) + 1)
    }
}

impl WarpProgram for StagesProgram {
    fn memory(&self) -> &[(u32, u32)] {
        &self.memory
    }

    fn offer(&mut self, warp: usize, port: &mut WarpPort<'_>) {
        let (StageState { tile, step }, produces) = (self.state[warp], self.produces(warp));
        let object = |of: u32| of + 8 * self.stage(warp);
        match step {
            StageStep::Wait => {
                // A producer waits until consumers have released the stage in the previous round. In the
                // first round, the stage is free.
                let round = tile / self.settings.depth + u32::from(produces);
                let (parity, limit) = (u128::from(round & 1) << 31, self.settings.wait.into());
                port.ask(Op::MbarTryWait, Size::U64, self.lanes());
                let at = object(if produces { self.free } else { self.full });
                lanes_of(self.lanes()).for_each(|lane| port.lane(lane, at, parity, limit));
            }
            StageStep::Move => {
                let lanes = self.threads.mask();
                if produces {
                    port.post(Op::Store, Size::U32, lanes);
                } else {
                    port.ask(Op::Load, Size::U32, lanes);
                }
                for lane in lanes_of(lanes) {
                    port.lane(lane, self.word(warp, lane), self.value(warp, lane).into(), 0);
                }
            }
            StageStep::Arrive => {
                port.post(Op::MbarArrive, Size::U64, self.lanes());
                let at = object(if produces { self.full } else { self.free });
                lanes_of(self.lanes()).for_each(|lane| port.lane(lane, at, 0, 0));
            }
        }
    }

    fn answered(&mut self, warp: usize, answer: &Answer<'_>, counts: &mut WorkCounts) -> Next {
        match self.state[warp].step {
            StageStep::Wait => {
                let (lanes, holds) = (self.lanes(), answer.pred & self.lanes());
                counts.tried(lanes, holds);
                if holds == lanes {
                    self.state[warp].step = StageStep::Move;
                }
            }
            StageStep::Move => {
                let wrong = |lane: &usize| answer.rd[*lane] as u32 != self.value(warp, *lane);
                if !self.produces(warp)
                    && let Some(lane) = lanes_of(self.threads.mask()).find(wrong)
                {
                    let (found, wanted) = (answer.rd[lane], self.value(warp, lane));
                    let tile = self.state[warp].tile;
                    self.wrong.get_or_insert_with(|| {
                        format!("lane {lane} of warp {warp} read {found} in tile {tile}, expected {wanted}")
                    });
                }
                self.state[warp].step = StageStep::Arrive;
            }
            StageStep::Arrive => {
                let stage = self.stage(warp) as usize;
                if !self.produces(warp) {
                    self.used[stage] += 1;
                    if self.used[stage] == self.settings.consumers {
                        self.used[stage] = 0;
                        counts.units += 1;
                    }
                }
                self.state[warp] = StageState { tile: self.state[warp].tile + 1, step: StageStep::Wait };
                return if self.state[warp].tile == self.units { Next::Done } else { Next::Unit(0) };
            }
        }
        Next::Dependent
    }

    fn waits_for(&self, warp: usize) -> String {
        let (stage, tile) = (self.stage(warp), self.state[warp].tile);
        let what = if self.produces(warp) { "free" } else { "full" };
        match self.state[warp].step {
            StageStep::Wait => format!("waits for stage {stage} to be {what}, for tile {tile}"),
            StageStep::Move | StageStep::Arrive => format!("is at tile {tile} in stage {stage}"),
        }
    }

    fn check(&self, _: &dyn Fn(u32) -> u32) -> Result<(), String> {
        self.wrong.clone().map_or(Ok(()), Err)?;
        match self.state.iter().position(|state| state.tile != self.units) {
            Some(warp) => Err(format!("warp {warp} moved {} of {} tiles", self.state[warp].tile, self.units)),
            None => Ok(()),
        }
    }
}
