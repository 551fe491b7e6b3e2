//! Formats costs as text.

use std::fmt::{self, Write as _};

use thousands::Separable as _;

use super::unit::{FigureOrigin, ModuleCost, UnitCost, UnitPath};

impl UnitCost {
    pub fn text(&self) -> String {
        let mut text = String::new();
        let _ = write(&mut text, self);
        text
    }
}

fn write(text: &mut String, cost: &UnitCost) -> fmt::Result {
    writeln!(
        text,
        "configuration {}, mapped to {}, for {} ns",
        cost.config, cost.tools.library, cost.period_ns
    )?;
    writeln!(
        text,
        "  1 GE is a NAND2 of {} um2, 1 FO4 an inverter that drives four, {:.3} ns\n",
        cost.nand2_area, cost.fo4_ns
    )?;
    text.push_str(&module_table(&cost.modules, cost.area));
    let bound = match cost.fitted_share {
        0.0 => String::new(),
        share => format!(", {:.0} % fitted", 100.0 * share),
    };
    writeln!(
        text,
        "{:26} {:>10} {:>7.1}  sum of the modules{bound}",
        "all",
        (cost.area.round() as u64).separate_with_commas(),
        cost.gate_equivalents / 1000.0
    )?;
    let memory = &cost.memory;
    writeln!(
        text,
        "\nmemory  {} macros, {} bits, not included above: {:.1} kGE at {} GE per bit",
        memory.instances,
        memory.bits.separate_with_commas(),
        memory.gate_equivalents / 1000.0,
        memory.gate_equivalents_per_bit
    )?;
    if let Some(path) = &cost.path {
        write_path(text, path)?;
    }
    for (row, why) in cost.modules.iter().filter_map(|row| Some((row, reason(&row.origin)?))) {
        if why != NOT_ASKED {
            writeln!(text, "fitted  {}: {why}", row.module)?;
        }
    }
    if cost.table_is_stale && uses_table(cost) {
        writeln!(text, "stale   the built-in table was measured with other RTL than this (docs/cost.md)")?;
    }
    Ok(())
}

pub fn module_table(rows: &[ModuleCost], all: f64) -> String {
    let head =
        format!("{:26} {:>10} {:>7} {:>4} {:>6} {:>4}  figures\n", "module", "um2", "kGE", "%", "ns", "FO4");
    rows.iter().fold(head, |table, row| table + &line(row, all) + "\n")
}

const NOT_ASKED: &str = "not requested";

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
        (row.area.round() as u64).separate_with_commas(),
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

fn write_path(out: &mut String, path: &UnitPath) -> fmt::Result {
    writeln!(
        out,
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
        writeln!(out, "{text}")?;
    }
    Ok(())
}
