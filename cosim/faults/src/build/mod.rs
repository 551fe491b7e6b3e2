//! Builds the RTL with all mutants in one library, and runs it with any mutant switched on.

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

#[derive(Debug, thiserror::Error)]
pub enum SchemataBuildError {
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The RTL has a construct that cannot be mutated.
    #[error("cannot insert mutants: {0}")]
    SwitchProcess(#[from] SchemataError),
    #[error(transparent)]
    Rtl(#[from] RtlError),
}

/// Ports that set the switches of mutants. Reset cycles set them through the ports of the CTA table, which
/// the RTL ignores in reset. The first cycle out of reset ends this, because a run may drive the ports freely
/// in later resets.
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

/// Last cycle in which a mutant can be active for a single cycle: the cycle number has 12 bits.
const WINDOW_CYCLES: u64 = 4095;

/// Selects one mutant of the schemata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch {
    /// Index of the site in [`SchemataRtl::sites`].
    pub site: usize,
    /// Number of the mutation operator at the site ([`MutationSite::operators`]). 0 is the design as written.
    pub value: u8,
    /// If None, `self.value` applies in every cycle. Else the cycle in which `self.value` applies, and the
    /// value for all other cycles. Only the last switch of a list may have a cycle.
    pub only_in: Option<(u64, u8)>,
}

impl Switch {
    pub fn always(site: usize, value: u8) -> Switch {
        Switch { site, value, only_in: None }
    }
}

/// Schemata of one configuration: the RTL with all its mutants, each with a switch.
#[derive(Clone, Debug)]
pub struct SchemataRtl {
    pub config: NamedConfig,
    /// Sites that can be mutated, indexed by [`Switch::site`].
    pub sites: Vec<MutationSite>,
    /// Name and unmodified text of each source.
    sources: Vec<(String, String)>,
    pub(crate) flow: DataFlow,
    library: Library,
}

impl SchemataRtl {
    /// Builds the schemata from the RTL in `rtl_dir`, or takes the library from the cache.
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

    /// Builds the RTL with replacements ([`SwitchProcess::replace`]). The result has no sites.
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
        // The library runs thousands of experiments of a few hundred cycles. Each starts with a restore.
        let restored_often = true;
        let library = rtl::library_of(rtl_dir, config, &schemata.texts, restored_often, progress)?;
        Ok(SchemataRtl { config: config.clone(), sources, sites: schemata.sites, flow, library })
    }

    /// Returns an RTL instance after reset, with memory zero and only these mutants switched on.
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

    /// Returns name and unmodified text of each source, in compile order.
    pub fn sources(&self) -> &[(String, String)] {
        &self.sources
    }

    pub fn source(&self, file: &str) -> Option<&str> {
        self.sources.iter().find(|(name, _)| name == file).map(|(_, text)| text.as_str())
    }

    /// Returns a line of the RTL for display: trimmed and without control characters. `line` counts from 1.
    pub fn line(&self, file: &str, line: usize) -> String {
        let text = self.source(file).and_then(|text| text.lines().nth(line - 1)).unwrap_or_default();
        text.trim().replace(char::is_control, " ")
    }

    /// Builds the RTL in `rtl_dir` with `text` in place of the source `file`, for mutants that need their own
    /// build.
    ///
    /// # Errors
    /// [`SchemataBuildError::Build`] if the tools reject the text. [`SchemataBuildError::Rtl`] if the RTL
    /// does not come out of reset.
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
        // The library is built for one mutant only.
        let restored_often = false;
        let library = rtl::library_of(rtl_dir, &self.config, &sources, restored_often, &mut |_| {})?;
        Ok(self.bench_of(&library)?)
    }

    /// Returns a bench to run experiments on.
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

/// RTL instance that is restored to its state after reset before each experiment.
#[derive(Debug)]
pub struct SchemataBench {
    session: Session<RtlMachine>,
    config: Config,
    start: Snapshot,
}

impl SchemataBench {
    /// Restores the RTL to its state after reset and switches these mutants on.
    fn with(&mut self, switches: &[Switch]) -> Result<&mut Rtl, RtlError> {
        let rtl = self.session.machine_mut().set_up();
        rtl.restore(&self.start)?;
        set(rtl, switches)?;
        Ok(rtl)
    }

    /// Compares the RTL with these mutants with a recorded run.
    ///
    /// # Errors
    /// [`RtlError`] if the state after reset cannot be restored.
    pub fn reply(&mut self, switches: &[Switch], run: &Recording) -> Result<Reply, RtlError> {
        Ok(run.replay(self.with(switches)?))
    }

    /// Runs the RTL with these mutants, checked by the oracle alone. Without the model, this also shows
    /// defects that the model has too. A run that does not end within `cycles` fails with [`Failure::Stuck`].
    ///
    /// # Errors
    /// [`RtlError`] if the state after reset cannot be restored.
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
