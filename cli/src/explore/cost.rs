//! `atoms explore cost`: area and critical path in standard cells.

use std::io::IsTerminal as _;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use atoms_cosim::embedded::rtl_dir;
use atoms_explore::cost::{
    BUILT_IN, CostError, CostQuestion, CostStep, CostTools, MappingGoal, ToolChoice, UnitCost, estimate,
    measure, measure_source, module_table,
};
use atoms_verilated::{Cache, Environment};

use crate::args::explore::CostArgs;
use crate::machine;
use crate::output::error::{CliError, Verdict, message};
use crate::output::{diagnostic, note, out, outln, print_json};

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
        out!("{}", cost.text())?;
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
    out!("{}", module_table(&rows, rows.iter().map(|row| row.area).sum()))?;
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

pub(super) fn tools(choice: &ToolChoice) -> Result<CostTools, CostError> {
    CostTools::find(&Environment::from_process(), choice, &mut |step| note!("cost: {step}"))
}

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
