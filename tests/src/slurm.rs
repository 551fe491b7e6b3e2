//! A cluster of one machine: munged, slurmctld and slurmds on loopback, in a folder of their own, without
//! systemd, cgroups or an installed configuration. It ends with the value that stands for it, however the
//! test ends; only processes that were started by it are ended.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Commands that must be there, and what to do otherwise.
const NEEDED: &[&str] =
    &["munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol", "setpriv"];

/// A running cluster.
#[derive(Debug)]
pub struct Cluster {
    folder: PathBuf,
    /// In the order in which they were started.
    daemons: Vec<(&'static str, Child)>,
}

/// Where Slurm's daemons and commands are; Debian has daemons outside the PATH of common users.
fn search_path() -> String {
    format!("{}:/usr/local/sbin:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default())
}

/// Ports of loopback that nobody uses.
fn free_ports(count: usize) -> Vec<u16> {
    let listeners: Vec<_> =
        (0..count).map(|_| TcpListener::bind("127.0.0.1:0").expect("loopback has a free port")).collect();
    listeners.iter().map(|l| l.local_addr().expect("it has an address").port()).collect()
}

fn output_of(program: &str, args: &[&str]) -> String {
    let output = Command::new(program).args(args).output().unwrap_or_else(|e| panic!("{program}: {e}"));
    String::from_utf8_lossy(&output.stdout).trim().to_string()
}

/// Processes that the cluster in `folder` started, daemons too, with their words, a space after each.
pub fn processes_of(folder: &Path) -> Vec<(u32, String)> {
    let mark = format!("SLURM_CONF={}/slurm.conf", folder.display());
    let of_it = |pid: &u32| {
        // What has ended, or belongs to somebody else, cannot be read.
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
    };
    let entries = fs::read_dir("/proc").expect("this is Linux");
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let words = |pid: u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        (pid, String::from_utf8_lossy(&line).replace('\0', " "))
    };
    pids.filter(of_it).map(words).collect()
}

impl Cluster {
    /// Starts a cluster with `nodes` nodes of one processor each and arrays of at most `max_array` tasks.
    ///
    /// # Panics
    /// When Slurm is not installed, with how to get it; when it does not come up, with its logs.
    pub fn start(name: &str, nodes: usize, max_array: u32) -> Cluster {
        let path = search_path();
        let there = |tool: &&&str| !std::env::split_paths(&path).any(|folder| folder.join(tool).is_file());
        let missing: Vec<_> = NEEDED.iter().filter(there).collect();
        assert!(missing.is_empty(), "{missing:?} not found: install Slurm with `.ci/slurm`");

        // The names of sockets must fit into 108 bytes.
        let base = fs::canonicalize(crate::generated("slurm")).expect("it was just made");
        let base = if base.as_os_str().len() < 70 { base } else { std::env::temp_dir() };
        let folder = base.join(format!("{name}.{}", std::process::id()));
        for part in ["run", "state", "spool", "log", "munge"] {
            fs::create_dir_all(folder.join(part)).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        }
        let mut cluster = Cluster { folder, daemons: Vec::new() };
        cluster.configure(nodes, max_array);
        cluster.bring_up(nodes);
        cluster
    }

    fn configure(&self, nodes: usize, max_array: u32) {
        let (host, user) = (output_of("uname", &["-n"]), output_of("id", &["-un"]));
        let host = host.split('.').next().unwrap_or_default();
        let ports: Vec<String> = free_ports(nodes + 1).iter().map(ToString::to_string).collect();
        let (control, of_nodes) = ports.split_first().expect("there is one more than nodes");
        let node = |(number, port): (usize, &String)| {
            format!(
                "NodeName=n{number} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1 RealMemory=100 State=UNKNOWN\n"
            )
        };
        let of_nodes: String = of_nodes.iter().enumerate().map(node).collect();
        let d = self.folder.display();
        let text = format!(
            "ClusterName=atoms\nSlurmctldHost={host}(127.0.0.1)\nSlurmUser={user}\nSlurmdUser={user}\n\
             AuthType=auth/munge\nAuthInfo=socket={d}/run/munge.sock\nCredType=cred/munge\n\
             SlurmctldPort={control}\nCommunicationParameters=NoCtldInAddrAny,NoInAddrAny\n\
             StateSaveLocation={d}/state\nSlurmdSpoolDir={d}/spool/%n\n\
             SlurmctldPidFile={d}/run/slurmctld.pid\nSlurmdPidFile={d}/run/slurmd.%n.pid\n\
             SlurmctldLogFile={d}/log/slurmctld.log\nSlurmdLogFile={d}/log/slurmd.%n.log\n\
             ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSwitchType=switch/none\nMpiDefault=none\n\
             SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\nSchedulerType=sched/backfill\n\
             SchedulerParameters=sched_interval=1,bf_interval=1,defer\nSlurmdParameters=config_overrides\n\
             JobAcctGatherType=jobacct_gather/none\nAccountingStorageType=accounting_storage/none\n\
             ReturnToService=2\nKillWait=2\nMaxArraySize={max_array}\n{of_nodes}\
             PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO\n"
        );
        fs::write(self.folder.join("slurm.conf"), text).expect("the configuration can be written");
        // Whoever knows the key may submit; it lives as long as the cluster.
        let key = self.folder.join("munge/key");
        fs::write(
            &key,
            fs::read("/proc/sys/kernel/random/uuid").expect("Linux has random numbers").repeat(2),
        )
        .expect("the key can be written");
        let allow =
            |mode: &str, path: &Path| assert!(Command::new("chmod").arg(mode).arg(path).status().is_ok());
        allow("400", &key);
        allow("700", &self.folder.join("munge"));
    }

    fn bring_up(&mut self, nodes: usize) {
        let d = self.folder.display().to_string();
        let munge = [
            "--foreground".to_string(),
            "--force".to_string(),
            format!("--key-file={d}/munge/key"),
            format!("--socket={d}/run/munge.sock"),
            format!("--pid-file={d}/run/munged.pid"),
            format!("--log-file={d}/log/munged.log"),
            format!("--seed-file={d}/munge/seed"),
        ];
        self.daemon("munged", &munge);
        let socket = self.folder.join("run/munge.sock");
        self.until("munged listens", Duration::from_secs(10), || socket.exists());
        let config = format!("{d}/slurm.conf");
        self.daemon("slurmctld", &["-D".into(), "-f".into(), config.clone()]);
        for node in 0..nodes {
            self.daemon(
                "slurmd",
                &["-D".into(), "-f".into(), config.clone(), "-N".into(), format!("n{node}")],
            );
        }
        self.until("all nodes are idle", Duration::from_secs(30), || {
            let states = self.try_command("sinfo", &["--noheader", "--Node", "--format=%t"]);
            String::from_utf8_lossy(&states.stdout).lines().filter(|state| *state == "idle").count() == nodes
        });
    }

    fn daemon(&mut self, program: &'static str, args: &[String]) {
        let log = fs::File::create(self.folder.join(format!("log/{program}.{}.out", self.daemons.len())))
            .expect("a log can be created");
        // `setpriv`: it ends with this process too, should that be killed.
        let child = Command::new("setpriv")
            .args(["--pdeathsig", "KILL", program])
            .args(args)
            .env("PATH", search_path())
            .env("SLURM_CONF", self.folder.join("slurm.conf"))
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a file can be opened twice"))
            .stderr(log)
            .spawn()
            .unwrap_or_else(|e| panic!("{program}: {e}"));
        self.daemons.push((program, child));
    }

    /// Where `slurm.conf` and logs are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The variable by which Slurm's commands find this cluster, and its value.
    pub fn variable(&self) -> (&'static str, PathBuf) {
        ("SLURM_CONF", self.folder.join("slurm.conf"))
    }

    fn try_command(&self, program: &str, args: &[&str]) -> Output {
        let (name, value) = self.variable();
        Command::new(program)
            .args(args)
            .env(name, value)
            .output()
            .unwrap_or_else(|e| panic!("{program}: {e}"))
    }

    /// What a command of Slurm prints.
    ///
    /// # Panics
    /// When it fails.
    pub fn command(&self, program: &str, args: &[&str]) -> String {
        let output = self.try_command(program, args);
        let words = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program} {}: {words}\n{}", args.join(" "), self.logs());
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Waits until something is so.
    ///
    /// # Panics
    /// When it is not for longer than `limit`, with the logs.
    pub fn until(&self, what: &str, limit: Duration, mut holds: impl FnMut() -> bool) {
        let begun = Instant::now();
        while !holds() {
            let waited = begun.elapsed();
            assert!(waited < limit, "waited {waited:?} until {what}\n{}", self.logs());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Processes that this cluster started, other than its daemons: jobs and what watches over them, with
    /// their words, a space after each.
    pub fn processes(&self) -> Vec<(u32, String)> {
        let daemons: Vec<u32> = self.daemons.iter().map(|(_, child)| child.id()).collect();
        let mut found = processes_of(&self.folder);
        found.retain(|(pid, words)| !daemons.contains(pid) && !words.contains("slurmscriptd"));
        found
    }

    /// The end of every log.
    fn logs(&self) -> String {
        let mut text = String::new();
        for entry in fs::read_dir(self.folder.join("log")).into_iter().flatten().flatten() {
            let log = fs::read(entry.path()).unwrap_or_default();
            let log = String::from_utf8_lossy(&log);
            let lines: Vec<_> = log.lines().collect();
            text += &format!("-- {}\n", entry.path().display());
            text += &(lines[lines.len().saturating_sub(15)..].join("\n") + "\n");
        }
        text
    }

    /// Asks a process to end; `-9` when it cannot refuse.
    fn signal(signal: &str, pid: u32) {
        let _ = Command::new("kill").args([signal, &pid.to_string()]).stderr(Stdio::null()).status();
    }

    /// Ends all that was started: jobs, then daemons in reverse.
    fn shut_down(&mut self) {
        if self.daemons.iter().any(|(name, _)| *name == "slurmctld") {
            let _ = self.try_command("scancel", &["--quiet", "--signal=KILL", "--state=RUNNING"]);
            let _ = self.try_command("scancel", &["--quiet", "--me"]);
        }
        for (pid, _) in self.processes() {
            Self::signal("-9", pid);
        }
        // One after the other: the controller does not end well without munged.
        for (_, daemon) in self.daemons.iter_mut().rev() {
            Self::signal("-TERM", daemon.id());
            let begun = Instant::now();
            while matches!(daemon.try_wait(), Ok(None)) && begun.elapsed() < Duration::from_secs(5) {
                std::thread::sleep(Duration::from_millis(10));
            }
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
        self.daemons.clear();
        for (pid, _) in processes_of(&self.folder) {
            Self::signal("-9", pid);
        }
    }

    /// Shuts it down; gives what could not be ended.
    pub fn end(mut self) -> Vec<(u32, String)> {
        self.shut_down();
        left(&self.folder)
    }
}

/// What still runs of a cluster that was shut down, after the moment that it takes to be gone.
pub fn left(folder: &Path) -> Vec<(u32, String)> {
    let begun = Instant::now();
    while !processes_of(folder).is_empty() && begun.elapsed() < Duration::from_secs(2) {
        std::thread::sleep(Duration::from_millis(20));
    }
    processes_of(folder)
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.shut_down();
        // The logs of a failure stay.
        if !std::thread::panicking() {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}
