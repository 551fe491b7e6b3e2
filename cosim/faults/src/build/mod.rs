//! The RTL with operators put in: one library that is the design with any one of them switched on, and what it does
//! in a recorded run.

mod recording;

use std::ops::Range;
use std::path::Path;

use atoms_cosim::machine::{Failure, RtlMachine};
use atoms_cosim::rtl::{self, BuildStep};
use atoms_cosim::scoreboard::Scoreboard;
use atoms_cosim::session::{Session, Tally};
use atoms_model::Config;
use atoms_model::port::In;
use atoms_stimulus::Stimulus;
use atoms_stimulus::configs::NamedConfig;
use atoms_verilated::{BuildError, Library, Rtl, RtlError, Snapshot};

use crate::schemata::{DataFlow, MutationSite, Schemata, SchemataError, SwitchProcess};

pub use recording::{Recording, Reply};

/// Reason why the schemata could not be built.
#[derive(Debug, thiserror::Error)]
pub enum SchemataBuildError {
    /// The RTL does not build.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// It builds, but has something that cannot take switches.
    #[error("cannot alter {0}")]
    SwitchProcess(#[from] SchemataError),
    /// It cannot be simulated.
    #[error(transparent)]
    Rtl(#[from] RtlError),
}

/// Switches are set in reset, by ports that mean nothing then; not in a later one, where a run drives them as it likes.
const WEAVE: SwitchProcess<'_> = SwitchProcess {
    top: rtl::TOP,
    clock: "clk_i",
    set: "!rst_ni && cta_valid_i",
    close: "rst_ni",
    site: "cta_base_i",
    value: "cta_rank_i[3:0]",
    meanwhile: "cta_rank_i[7:4]",
    from: "cta_size_i[11:0]",
    to: "cta_size_i[23:12]",
};

/// Cycles that a window of an operator can lie in.
const WINDOW_CYCLES: u64 = 4095;

/// A switch and what it is set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch {
    /// Number of the site.
    pub site: usize,
    /// Number of its operator.
    pub value: u8,
    /// The cycle in which alone it has that value, and the value that it has otherwise. Of several switches the last may
    /// have one.
    pub only_in: Option<(u64, u8)>,
}

impl Switch {
    /// Set throughout.
    pub fn always(site: usize, value: u8) -> Switch {
        Switch { site, value, only_in: None }
    }
}

/// The RTL with every operator put in, for one configuration.
#[derive(Clone, Debug)]
pub struct SchemataRtl {
    /// Configuration.
    pub config: NamedConfig,
    /// What can be altered.
    pub sites: Vec<MutationSite>,
    /// Name and text of each source.
    sources: Vec<(String, String)>,
    /// What each signal depends on.
    pub(crate) flow: DataFlow,
    library: Library,
}

impl SchemataRtl {
    /// Builds it of the RTL in `rtl_dir`, or takes it from the cache.
    ///
    /// # Errors
    /// [`SchemataBuildError`].
    pub fn build(
        rtl_dir: &Path,
        config: &NamedConfig,
        progress: &mut dyn FnMut(&BuildStep),
    ) -> Result<SchemataRtl, SchemataBuildError> {
        let sources = rtl::texts(rtl_dir, config)?;
        let schemata = WEAVE.apply(&sources)?;
        Self::of(rtl_dir, config, sources, schemata, progress)
    }

    /// Builds it with replacements put in ([`SwitchProcess::replace`]), and no sites.
    ///
    /// # Errors
    /// [`SchemataBuildError`].
    pub fn replaced(
        rtl_dir: &Path,
        config: &NamedConfig,
        replacements: &[(String, Range<usize>, String)],
        progress: &mut dyn FnMut(&BuildStep),
    ) -> Result<SchemataRtl, SchemataBuildError> {
        let sources = rtl::texts(rtl_dir, config)?;
        let texts = WEAVE.replace(&sources, replacements)?;
        Self::of(rtl_dir, config, sources, Schemata { texts, sites: Vec::new() }, progress)
    }

    fn of(
        rtl_dir: &Path,
        config: &NamedConfig,
        sources: Vec<(String, String)>,
        schemata: Schemata,
        progress: &mut dyn FnMut(&BuildStep),
    ) -> Result<SchemataRtl, SchemataBuildError> {
        let flow = DataFlow::read(&sources)?;
        // Experiments by the thousand, of a few hundred cycles each.
        let restored_often = true;
        let library = rtl::library_of(rtl_dir, config, &schemata.texts, restored_often, progress)?;
        Ok(SchemataRtl { config: config.clone(), sources, sites: schemata.sites, flow, library })
    }

    /// A model of it after reset, memory zero, with these operators and no other.
    ///
    /// # Errors
    /// [`RtlError`].
    pub fn altered(&self, switches: &[Switch]) -> Result<Rtl, RtlError> {
        let mut rtl = self.library.instantiate()?;
        rtl.reset()?;
        rtl.clear_memory();
        set(&mut rtl, switches)?;
        Ok(rtl)
    }

    /// Name and text of each source as it is written, in the order in which they are read.
    pub fn sources(&self) -> &[(String, String)] {
        &self.sources
    }

    /// The text of a source as it is written.
    pub fn source(&self, file: &str) -> Option<&str> {
        self.sources.iter().find(|(name, _)| name == file).map(|(_, text)| text.as_str())
    }

    /// A line of the RTL, from 1, to be shown: without the space around it and without control characters.
    pub fn line(&self, file: &str, line: usize) -> String {
        let text = self.source(file).and_then(|text| text.lines().nth(line - 1)).unwrap_or_default();
        text.trim().replace(char::is_control, " ")
    }

    /// As [`Self::bench`], of the RTL in `rtl_dir` with `text` in place of the source `file`: for what no switch alters.
    ///
    /// # Errors
    /// [`SchemataBuildError::Build`] where the tools do not take the text, [`SchemataBuildError::Rtl`] where it does not come out of reset.
    pub fn bench_with(
        &self,
        rtl_dir: &Path,
        file: &str,
        text: &str,
    ) -> Result<SchemataBench, SchemataBuildError> {
        let mut sources = self.sources.clone();
        for (_, own) in sources.iter_mut().filter(|(name, _)| name == file) {
            text.clone_into(own);
        }
        // One defect, and built for it alone.
        let restored_often = false;
        let library = rtl::library_of(rtl_dir, &self.config, &sources, restored_often, &mut |_| {})?;
        Ok(self.bench_of(&library)?)
    }

    /// A model to run experiments on.
    ///
    /// # Errors
    /// [`RtlError`].
    pub fn bench(&self) -> Result<SchemataBench, RtlError> {
        self.bench_of(&self.library)
    }

    fn bench_of(&self, library: &Library) -> Result<SchemataBench, RtlError> {
        let config = self.config.config;
        let mut machine = RtlMachine::new(library.instantiate()?, config)?;
        let start = machine.set_up().save()?;
        Ok(SchemataBench { session: Session::new(machine, None), config, start })
    }
}

/// A model that goes back to its start before each experiment.
#[derive(Debug)]
pub struct SchemataBench {
    session: Session<RtlMachine>,
    config: Config,
    start: Snapshot,
}

impl SchemataBench {
    /// The model, after reset, with these operators.
    fn with(&mut self, switches: &[Switch]) -> Result<&mut Rtl, RtlError> {
        let rtl = self.session.machine_mut().set_up();
        rtl.restore(&self.start)?;
        set(rtl, switches)?;
        Ok(rtl)
    }

    /// What the RTL with these operators does in a recorded run.
    ///
    /// # Errors
    /// [`RtlError`] when it cannot go back to its start.
    pub fn reply(&mut self, switches: &[Switch], run: &Recording) -> Result<Reply, RtlError> {
        Ok(run.replay(self.with(switches)?))
    }

    /// What the oracle alone, at the ports, has to say of the RTL with these operators, and what the run came to. There is no
    /// model: as where it has the same defect. A run that does not end within `cycles` is stuck.
    ///
    /// # Errors
    /// [`RtlError`] when it cannot go back to its start.
    pub fn judged(
        &mut self,
        switches: &[Switch],
        stimulus: &mut impl Stimulus,
        cycles: u64,
    ) -> Result<(Tally, Option<Failure>), RtlError> {
        self.with(switches)?;
        self.session.restart(Some(Scoreboard::new(&self.config, &[])));
        let failure = match self.session.run(stimulus, cycles, |_| {}) {
            Ok(tally) if tally.cycles >= cycles => {
                Some(Failure::Stuck { waiting: 0, cycles, cycle: tally.cycles })
            }
            outcome => outcome.err(),
        };
        Ok((self.session.tally(), failure))
    }
}

fn set(rtl: &mut Rtl, switches: &[Switch]) -> Result<(), RtlError> {
    let (mut out, mut probe) = Default::default();
    for Switch { site, value, only_in } in switches {
        let (cycle, base) = only_in.unwrap_or((0, *value));
        let cycle = cycle.min(WINDOW_CYCLES) as u32;
        let input = In {
            cta_valid: 1,
            cta_base: *site as u16,
            cta_rank: base | value << 4,
            cta_size: cycle | cycle << 12,
            ..In::default()
        };
        rtl.cycle(&input, &mut out, &mut probe)?;
    }
    Ok(())
}
