//! The elaborated design as Yosys writes it (RTLIL), taken apart into its modules, each in a form that is the same wherever
//! the module is the same: so that what was found out about it once holds for every point that has it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;

use atoms_verilated::hash;

/// The modules of a design, the top first.
#[derive(Clone, Debug)]
pub(crate) struct Hierarchy {
    pub(crate) modules: Vec<ElaboratedModule>,
}

/// A module of the design, whose instances are all alike.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ElaboratedModule {
    /// Name in the sources; where instances differ in their parameters, with that of the instance behind it.
    pub(crate) name: String,
    /// Paths of its instances from the top, parts between slashes; empty for the top.
    pub(crate) paths: Vec<String>,
    /// Modules instantiated inside, by name.
    pub(crate) children: BTreeSet<String>,
    /// Bits of the memories inside.
    pub(crate) memory_bits: u64,
    /// Ports: name, direction, bits.
    pub(crate) ports: Vec<ModulePort>,
    /// SHA-256 of its structure and of the ports of its children.
    pub(crate) hash: String,
    /// A text that Yosys reads: the module, its children as black boxes.
    pub(crate) text: String,
}

/// A port of a module.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ModulePort {
    pub(crate) name: String,
    pub(crate) is_input: bool,
    pub(crate) bits: u32,
}

/// What Yosys wrote is not as expected.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the design that Yosys wrote: {0}")]
pub struct NetlistError(String);

/// A module as it stands in the text.
struct RawModule<'t> {
    lines: Vec<&'t str>,
    /// Module and name of each instance.
    cells: Vec<(&'t str, &'t str)>,
}

impl Hierarchy {
    /// Takes apart the design `text` whose top module is `top`.
    pub(crate) fn parse(text: &str, top: &str) -> Result<Self, NetlistError> {
        let raw = read(text);
        let top = format!("\\{top}");
        if !raw.contains_key(top.as_str()) {
            return Err(NetlistError(format!("it has no module {top}")));
        }
        // Children before their parents, so that their names are settled.
        let mut order = Vec::new();
        visit(&raw, &top, &mut order)?;
        let mut settled: HashMap<&str, String> = HashMap::new();
        let mut bodies: BTreeMap<String, Vec<(String, &str)>> = BTreeMap::new();
        for name in &order {
            let base = name.trim_start_matches('\\').split('$').next().unwrap_or_default().to_string();
            let body = body(&raw[name], &settled);
            let alike = bodies.entry(base.clone()).or_default();
            let place = alike.iter().position(|(other, _)| *other == body);
            let place = place.unwrap_or_else(|| {
                alike.push((body, name));
                alike.len() - 1
            });
            // Told apart below, once it is known whether they have to be.
            settled.insert(name, format!("{base}\u{0}{place}"));
        }
        let final_name = |settled: &str| {
            let (base, place) = settled.split_once('\u{0}').unwrap_or((settled, "0"));
            let alike = &bodies[base];
            match alike.as_slice() {
                [_] => base.to_string(),
                _ => {
                    let (_, first) = &alike[place.parse::<usize>().unwrap_or(0)];
                    format!("{base}_{}", first.rsplit(['.', '$']).next().unwrap_or_default())
                }
            }
        };
        let paths = paths(&raw, &top);
        let mut modules = BTreeMap::new();
        for (base, alike) in &bodies {
            for (place, (body, name)) in alike.iter().enumerate() {
                let module = format!("{base}\u{0}{place}");
                let mut own: Vec<String> = Vec::new();
                for other in order.iter().filter(|other| settled[**other] == module) {
                    own.extend(paths[other].iter().cloned());
                }
                own.sort();
                let body = body.split(' ').map(|word| match word.contains('\u{0}') {
                    true => format!("\\{}", final_name(word.trim_start_matches('\\'))),
                    false => word.to_string(),
                });
                let body = body.collect::<Vec<_>>().join(" ");
                let children: BTreeMap<String, &str> =
                    raw[name].cells.iter().map(|(of, _)| (final_name(&settled[of]), *of)).collect();
                let mut text = "autoidx 1000000\n".to_string();
                for (child, of) in &children {
                    let _ = writeln!(text, "attribute \\blackbox 1\nmodule \\{child}");
                    raw[of].lines.iter().filter(|line| port(line).is_some()).for_each(|line| {
                        let _ = writeln!(text, "{line}");
                    });
                    text += "end\n";
                }
                let name_of = final_name(&module);
                let _ = writeln!(text, "module \\{name_of}\n{body}");
                let found = ElaboratedModule {
                    name: name_of,
                    paths: own,
                    children: children.into_keys().collect(),
                    memory_bits: raw[name].lines.iter().filter_map(|line| memory(line)).sum(),
                    ports: raw[name].lines.iter().filter_map(|line| port(line)).collect(),
                    hash: hash([&text]),
                    text,
                };
                modules.insert(*name, found);
            }
        }
        let first = order.iter().rev();
        Ok(Self { modules: first.filter_map(|name| modules.remove(*name)).collect() })
    }
}

/// The modules of a text by name, without what says only where a line came from.
fn read(text: &str) -> BTreeMap<&str, RawModule<'_>> {
    let mut modules: BTreeMap<&str, RawModule<'_>> = BTreeMap::new();
    let mut open = None;
    for line in text.lines() {
        let mut words = line.split_whitespace();
        match (words.next(), words.next(), words.next()) {
            (Some("attribute"), Some("\\src" | "\\hdlname"), _) => {}
            (Some("module"), Some(name), None) => {
                modules.insert(name, RawModule { lines: Vec::new(), cells: Vec::new() });
                open = Some(name);
            }
            (first, second, third) => {
                let Some(module) = open.and_then(|name| modules.get_mut(name)) else { continue };
                module.lines.push(line);
                if let (Some("cell"), Some(of), Some(name)) = (first, second, third)
                    && of.starts_with('\\')
                {
                    module.cells.push((of, name));
                }
                if line == "end" {
                    open = None;
                }
            }
        }
    }
    modules
}

fn visit<'t>(
    raw: &BTreeMap<&'t str, RawModule<'t>>,
    name: &str,
    order: &mut Vec<&'t str>,
) -> Result<(), NetlistError> {
    let (name, module) =
        raw.get_key_value(name).ok_or_else(|| NetlistError(format!("it has no module {name}")))?;
    if order.contains(name) {
        return Ok(());
    }
    for (of, _) in &module.cells {
        visit(raw, of, order)?;
    }
    order.push(name);
    Ok(())
}

/// Paths of the instances of every module.
fn paths<'t>(raw: &BTreeMap<&'t str, RawModule<'t>>, top: &str) -> HashMap<&'t str, Vec<String>> {
    let mut found: HashMap<&str, Vec<String>> = HashMap::new();
    let mut open = vec![(top.to_string(), String::new())];
    while let Some((name, path)) = open.pop() {
        let Some((name, module)) = raw.get_key_value(name.as_str()) else { continue };
        for (of, instance) in &module.cells {
            let instance = instance.trim_start_matches('\\');
            let inside = if path.is_empty() { instance.to_string() } else { format!("{path}/{instance}") };
            open.push((of.to_string(), inside));
        }
        found.entry(name).or_default().push(path);
    }
    found
}

/// What is inside a module, with names that Yosys made up numbered by their first use, and those of its children as they
/// are in `settled`.
fn body(module: &RawModule<'_>, settled: &HashMap<&str, String>) -> String {
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut text = String::new();
    for line in &module.lines {
        for (place, word) in line.split(' ').enumerate() {
            if place > 0 {
                text.push(' ');
            }
            if let Some(name) = settled.get(word) {
                let _ = write!(text, "\\{name}");
            } else if let Some((quote, name)) = made_up(word) {
                let next = numbers.len();
                let _ = write!(text, "{quote}$n{}{quote}", numbers.entry(name).or_insert(next));
            } else {
                text += word;
            }
        }
        // A word of its own, so that lines stay apart.
        text += " \n ";
    }
    text
}

/// The name that Yosys made up, `$auto$file.cc:12:what$34`, if the word is one; with the quotes in which a parameter has
/// that of a memory.
fn made_up(word: &str) -> Option<(&str, &str)> {
    let quoted = word.strip_prefix('"').and_then(|word| word.strip_suffix('"'));
    let name = quoted.unwrap_or(word);
    let rest = name.strip_prefix('$')?;
    rest.contains('$').then_some((if quoted.is_some() { "\"" } else { "" }, name))
}

/// The port that a line declares: `  wire width 32 input 3 \raddr_i`.
fn port(line: &str) -> Option<ModulePort> {
    let mut words = line.split_whitespace();
    if words.next()? != "wire" {
        return None;
    }
    let words: Vec<&str> = words.collect();
    let is_input = words.contains(&"input");
    if !is_input && !words.contains(&"output") {
        return None;
    }
    let width = words.iter().position(|word| *word == "width").and_then(|at| words.get(at + 1)?.parse().ok());
    let name = words.last()?.trim_start_matches('\\').to_string();
    Some(ModulePort { name, is_input, bits: width.unwrap_or(1) })
}

/// Bits of the memory that a line declares: `  memory width 32 size 384 \mem_q`.
fn memory(line: &str) -> Option<u64> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let number = |name| words.get(words.iter().position(|word| *word == name)? + 1)?.parse::<u64>().ok();
    (*words.first()? == "memory").then_some(number("width")? * number("size")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A unit of two equal banks and two queues that differ; names as the reader of SystemVerilog makes them.
    const DESIGN: &str = r#"# Generated by Yosys
autoidx 99
attribute \top 1
attribute \src "unit.sv:3.1-9.2"
module \unit
  wire width 2 input 1 \a
  wire output 2 \y
  attribute \src "unit.sv:4.1"
  cell \bank$unit.g[0].u_bank \g[0].u_bank
    connect \d \a [0]
  end
  cell \bank$unit.g[1].u_bank \g[1].u_bank
    connect \d \a [1]
  end
  cell \fifo$unit.u_short \u_short
    connect \d \a [1]
  end
  cell \fifo$unit.u_long \u_long
    connect \d \a [1]
  end
end
module \bank$unit.g[0].u_bank
  wire input 1 \d
  wire $auto$x.cc:1:f$12
  memory width 32 size 8 $auto$rom.cc:1:f$14
  cell $not $not$unit.sv:5$13
    parameter \MEMID "$auto$rom.cc:1:f$14"
    connect \A \d
    connect \Y $auto$x.cc:1:f$12
  end
end
module \bank$unit.g[1].u_bank
  wire input 1 \d
  wire $auto$x.cc:1:f$22
  memory width 32 size 8 $auto$rom.cc:1:f$24
  cell $not $not$unit.sv:5$23
    parameter \MEMID "$auto$rom.cc:1:f$24"
    connect \A \d
    connect \Y $auto$x.cc:1:f$22
  end
end
module \fifo$unit.u_short
  wire width 4 input 1 \d
end
module \fifo$unit.u_long
  wire width 8 input 1 \d
end
"#;

    fn names(design: &Hierarchy) -> Vec<(&str, Vec<&str>, u64)> {
        let all = design.modules.iter();
        all.map(|m| (m.name.as_str(), m.paths.iter().map(String::as_str).collect(), m.memory_bits)).collect()
    }

    #[test]
    fn equal_instances_are_one_module_and_others_are_told_apart() {
        let design = Hierarchy::parse(DESIGN, "unit").expect("it is a design");
        assert_eq!(
            names(&design),
            [
                ("unit", vec![""], 0),
                ("fifo_u_long", vec!["u_long"], 0),
                ("fifo_u_short", vec!["u_short"], 0),
                ("bank", vec!["g[0].u_bank", "g[1].u_bank"], 256),
            ]
        );
        let unit = &design.modules[0];
        assert_eq!(unit.children.iter().collect::<Vec<_>>(), ["bank", "fifo_u_long", "fifo_u_short"]);
        assert!(
            unit.text
                .contains("attribute \\blackbox 1\nmodule \\fifo_u_long\n  wire width 8 input 1 \\d\nend")
        );
        assert!(unit.text.contains("cell \\bank \\g[1].u_bank"), "{}", unit.text);
        assert!(!unit.text.contains("src"), "{}", unit.text);
        let bank = &design.modules[3].text;
        assert!(bank.contains("memory width 32 size 8 $n1") && bank.contains("\\MEMID \"$n1\""), "{bank}");
        assert_eq!(unit.ports[0], ModulePort { name: "a".into(), is_input: true, bits: 2 });
    }

    #[test]
    fn a_module_keeps_its_hash_where_numbers_and_places_change() {
        let hash = |text: &str, name: &str| {
            let design = Hierarchy::parse(text, "unit").expect("it is a design");
            design.modules.into_iter().find(|module| module.name == name).expect("it is there").hash
        };
        let moved =
            DESIGN.replace("$12", "$512").replace("$13", "$613").replace("unit.sv:3.1-9.2", "unit.sv:5.1");
        assert_eq!(hash(DESIGN, "bank"), hash(&moved, "bank"));
        assert_eq!(hash(DESIGN, "unit"), hash(&moved, "unit"));
        let deeper = DESIGN.replace("size 8", "size 16");
        assert_ne!(hash(DESIGN, "bank"), hash(&deeper, "bank"));
        assert_eq!(hash(DESIGN, "unit"), hash(&deeper, "unit"), "the ports of the bank are the same");
        let wider = DESIGN.replace("wire width 8 input 1 \\d", "wire width 9 input 1 \\d");
        assert_ne!(hash(DESIGN, "unit"), hash(&wider, "unit"), "those of a queue are not");
    }

    #[test]
    fn what_is_missing_is_named() {
        let error = Hierarchy::parse("", "unit").expect_err("there is nothing").to_string();
        assert_eq!(error, "cannot read the design that Yosys wrote: it has no module \\unit");
        let text = "module \\unit\n  cell \\gone \\u_gone\n  end\nend\n";
        let error = Hierarchy::parse(text, "unit").expect_err("a module is missing").to_string();
        assert!(error.contains("it has no module \\gone"), "{error}");
    }
}
