//! `atoms explore cost`: area and slowest path in standard cells.

use std::io::IsTerminal as _;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use atoms_cosim::embedded::rtl_dir;
use atoms_explore::cost::{
    BUILT_IN, CostError, CostQuestion, CostStep, CostTools, FigureOrigin, MappingGoal, ModuleCost,
    ToolChoice, UnitCost, UnitPath, estimate, measure, measure_source,
};
use atoms_verilated::{Cache, Environment};

use crate::args::explore::CostArgs;
use crate::machine;
use crate::output::error::{CliError, Verdict, message};
use crate::output::progress::grouped;
use crate::output::{diagnostic, note, outln, print_json};

pub(crate) fn cost(args: &CostArgs) -> Result<Verdict, CliError> {
    check_files(args)?;
    if let Some(last) = args.source.last() {
        return source(args, last);
    }
    let config = machine::config(&args.point.name())?;
    let rtl_dir = rtl_dir();
    let question = CostQuestion {
        rtl_dir: &rtl_dir,
        config: &config,
        modules: &args.modules,
        gate_equivalents_per_bit: args.memory_bit,
        table: &BUILT_IN,
    };
    let cost = if args.fitted { estimate(&question)? } else { mapped(args, &question)? };
    if args.json {
        print_json(&cost)?;
    } else {
        show(&cost)?;
    }
    Ok(Verdict::Agree)
}

fn check_files(args: &CostArgs) -> Result<(), CliError> {
    let mut files = machine::files();
    if let Some(path) = &args.liberty {
        files.reads("the cell library", path);
    }
    for path in &args.source {
        files.reads("a source", path);
    }
    files.check()
}

fn mapped(args: &CostArgs, question: &CostQuestion<'_>) -> Result<UnitCost, CliError> {
    let tools = chosen_tools(args)?;
    Ok(measured(question, &tools, goal(args))?)
}

/// The cost of a module of the user's.
fn source(args: &CostArgs, last: &Path) -> Result<Verdict, CliError> {
    let top = last.file_stem().unwrap_or_default().to_string_lossy();
    let tools = chosen_tools(args)?;
    let cache = Cache::new(&Environment::from_process());
    let rows = measure_source(&args.source, &top, &tools, &cache, goal(args))?;
    if args.json {
        print_json(&rows)?;
        return Ok(Verdict::Agree);
    }
    outln!("module {top}, mapped to {}, for {} ns\n", tools.identity.library, args.period)?;
    table(&rows, rows.iter().map(|row| row.area).sum())?;
    Ok(Verdict::Agree)
}

fn goal(args: &CostArgs) -> MappingGoal {
    MappingGoal { period_ns: args.period, limit: Duration::from_secs(args.limit) }
}

fn chosen_tools(args: &CostArgs) -> Result<CostTools, CliError> {
    let mut choice = ToolChoice::from_process();
    if let Some(liberty) = &args.liberty {
        choice.liberty = Some(std::path::absolute(liberty).map_err(CliError::reading(liberty))?);
    }
    tools(&choice).map_err(|error| match error.is_missing() {
        true => message!("{error}; `--fitted` needs no tools"),
        false => error.into(),
    })
}

/// Yosys, OpenSTA and the cells.
pub(super) fn tools(choice: &ToolChoice) -> Result<CostTools, CostError> {
    CostTools::find(&Environment::from_process(), choice, &mut |step| note!("cost: {step}"))
}

/// Maps and times a unit, and tells a terminal how far it is.
pub(super) fn measured(
    question: &CostQuestion<'_>,
    tools: &CostTools,
    goal: MappingGoal,
) -> Result<UnitCost, CostError> {
    let begun = Instant::now();
    let shown = Mutex::new(());
    let progress = |step: &CostStep| {
        if std::io::stderr().is_terminal() {
            let _shown = shown.lock();
            diagnostic(format_args!("\r\x1b[Kcost: {} ({} s)", said(step), begun.elapsed().as_secs()));
        }
    };
    let cost = measure(question, tools, &Cache::new(&Environment::from_process()), goal, &progress);
    if std::io::stderr().is_terminal() {
        diagnostic(format_args!("\r\x1b[K"));
    }
    cost
}

fn said(step: &CostStep) -> String {
    match step {
        CostStep::Elaborating => "Yosys reads the RTL".to_string(),
        CostStep::Mapping { done, total, current } => {
            format!("{done} of {total} modules, now {}", current.join(", "))
        }
        CostStep::Timing => "OpenSTA times the unit".to_string(),
    }
}

fn show(cost: &UnitCost) -> Result<(), CliError> {
    outln!("configuration {}, mapped to {}, for {} ns", cost.config, cost.tools.library, cost.period_ns)?;
    outln!(
        "  1 GE is a NAND2 of {} um2, 1 FO4 an inverter that drives four, {:.3} ns\n",
        cost.nand2_area,
        cost.fo4_ns
    )?;
    table(&cost.modules, cost.area)?;
    let bound = match cost.fitted_share {
        0.0 => String::new(),
        share => format!(", {:.0} % fitted", 100.0 * share),
    };
    outln!(
        "{:26} {:>10} {:>7.1}  modules added up{bound}",
        "all",
        grouped(cost.area.round() as u64),
        cost.gate_equivalents / 1000.0
    )?;
    let memory = &cost.memory;
    outln!(
        "\nmemory  {} macros, {} bits, not in that area: {:.1} kGE at {} GE a bit",
        memory.instances,
        grouped(memory.bits),
        memory.gate_equivalents / 1000.0,
        memory.gate_equivalents_per_bit
    )?;
    if let Some(path) = &cost.path {
        show_path(path)?;
    }
    for (row, why) in cost.modules.iter().filter_map(|row| Some((row, reason(&row.origin)?))) {
        if why != NOT_ASKED {
            outln!("fitted  {}: {why}", row.module)?;
        }
    }
    if cost.table_is_stale && uses_table(cost) {
        outln!("stale   the built-in table was measured on other RTL (docs/cost.md)")?;
    }
    Ok(())
}

/// Modules, and their shares of `all` um2.
fn table(rows: &[ModuleCost], all: f64) -> Result<(), CliError> {
    outln!("{:26} {:>10} {:>7} {:>4} {:>6} {:>4}  figures", "module", "um2", "kGE", "%", "ns", "FO4")?;
    rows.iter().try_for_each(|row| outln!("{}", line(row, all)))
}

const NOT_ASKED: &str = "not asked for";

fn uses_table(cost: &UnitCost) -> bool {
    let uses = |origin: &FigureOrigin| matches!(origin, FigureOrigin::Table | FigureOrigin::Fitted { .. });
    cost.modules.iter().any(|row| uses(&row.origin))
        || cost.path.as_ref().is_some_and(|path| uses(&path.origin))
}

fn reason(origin: &FigureOrigin) -> Option<&str> {
    match origin {
        FigureOrigin::Fitted { why, .. } => Some(why),
        FigureOrigin::Mapped | FigureOrigin::Cached | FigureOrigin::Table => None,
    }
}

fn line(row: &ModuleCost, all: f64) -> String {
    let name = match row.instances {
        1 => row.module.clone(),
        instances => format!("{} x{instances}", row.module),
    };
    let (ns, fo4, between) = match &row.path {
        None => ("-".to_string(), "-".to_string(), String::new()),
        Some(path) => {
            let between =
                path.between.map(|(from, to)| format!(" {}>{}", &from.name()[..3], &to.name()[..3]));
            (format!("{:.2}", path.ns), format!("{:.0}", path.fo4), between.unwrap_or_default())
        }
    };
    format!(
        "{name:26} {:>10} {:>7.1} {:>4.0} {ns:>6} {fo4:>4}  {}{between}",
        grouped(row.area.round() as u64),
        row.gate_equivalents / 1000.0,
        100.0 * row.area / all.max(f64::MIN_POSITIVE),
        origin(&row.origin),
    )
}

fn origin(origin: &FigureOrigin) -> String {
    match origin {
        FigureOrigin::Mapped => "mapped".to_string(),
        FigureOrigin::Cached => "cached".to_string(),
        FigureOrigin::Table => "table".to_string(),
        FigureOrigin::Fitted { error, .. } => format!("fitted {}", plus_minus(*error)),
    }
}

fn plus_minus(error: Option<f64>) -> String {
    error.map_or("+-?".to_string(), |error| format!("+-{:.0} %", 100.0 * error))
}

fn show_path(path: &UnitPath) -> Result<(), CliError> {
    outln!(
        "path    {:.2} ns, {:.0} FO4, through all modules: {:.1} MHz ({})",
        path.ns,
        path.fo4,
        path.mhz,
        origin(&path.origin)
    )?;
    let steps: Vec<String> = path.through.iter().map(|(module, ns)| format!("{module} {ns:.2}")).collect();
    if !steps.is_empty() {
        let text = textwrap::fill(
            &format!("{} ns", steps.join(", ")),
            textwrap::Options::new(80).initial_indent("        ").subsequent_indent("        "),
        );
        outln!("{text}")?;
    }
    Ok(())
}
