//! A real browser without a display, driven over its DevTools protocol.
//!
//! Of the protocol we need a dozen commands, one after the other: a socket and JSON say them. What else
//! there is to drive browsers brings an asynchronous runtime, or downloads browsers.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tungstenite::{Message, WebSocket};

/// How long a command may take on a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(60);
const NAMES: [&str; 6] = [
    "chromium-headless-shell",
    "chrome-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
];

/// A page in a browser of its own; the browser ends with it.
pub(crate) struct Browser {
    process: Child,
    socket: WebSocket<TcpStream>,
    session: String,
    profile: PathBuf,
    sent: u64,
    /// Errors of scripts and on the console.
    pub(crate) errors: Vec<String>,
    /// Addresses that were asked for.
    pub(crate) requests: Vec<String>,
    loaded: bool,
}

/// `CHROMIUM`, or the first browser on `PATH`.
fn find() -> PathBuf {
    if let Some(named) = std::env::var_os("CHROMIUM").filter(|named| !named.is_empty()) {
        return named.into();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places: Vec<_> = std::env::split_paths(&path).collect();
    let mut candidates = NAMES.iter().flat_map(|name| places.iter().map(move |place| place.join(name)));
    candidates.find(|candidate| candidate.is_file()).unwrap_or_else(|| {
        panic!(
            "no Chromium on PATH (looked for {}): `CHROMIUM=$(.ci/browser)` installs one and names it, or set \
             CHROMIUM to the path of one",
            NAMES.join(", ")
        )
    })
}

impl Browser {
    /// Starts a browser with a window of this size; `name` tells its profile from those of other tests.
    pub(crate) fn start(name: &str, width: u32, height: u32) -> Browser {
        let program = find();
        let profile =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("browser-{name}-{}", std::process::id()));
        let mut process = Command::new(&program)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
            ])
            .args(["--hide-scrollbars", "--remote-debugging-port=0"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg("about:blank")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{} does not start: {error}", program.display()));
        let mut said = BufReader::new(process.stderr.take().expect("stderr is piped"));
        let mut address = None;
        let mut all = String::new();
        let mut line = String::new();
        while address.is_none() && said.read_line(&mut line).is_ok_and(|length| length > 0) {
            address = line.trim().strip_prefix("DevTools listening on ").map(String::from);
            all.push_str(&std::mem::take(&mut line));
        }
        let Some(address) = address else {
            let _ = process.kill();
            panic!("{} says no address of its DevTools: {all}", program.display());
        };
        // What it says later must not fill the pipe.
        std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
        let host = address.trim_start_matches("ws://").split('/').next().unwrap_or_default();
        let stream = TcpStream::connect(host).expect("the browser listens where it says");
        stream.set_read_timeout(Some(PATIENCE)).expect("a limit can be set");
        let (socket, _) = tungstenite::client(&address, stream).expect("the browser speaks its protocol");
        let mut browser = Browser {
            process,
            socket,
            session: String::new(),
            profile,
            sent: 0,
            errors: Vec::new(),
            requests: Vec::new(),
            loaded: false,
        };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let attached =
            browser.call("Target.attachToTarget", json!({"targetId": target["targetId"], "flatten": true}));
        browser.session = attached["sessionId"].as_str().expect("a session").into();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser.size(width, height);
        browser
    }

    /// Size of the window.
    pub(crate) fn size(&mut self, width: u32, height: u32) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", size);
    }

    /// Opens a file, and waits until it is loaded.
    pub(crate) fn open(&mut self, file: &Path) {
        self.loaded = false;
        let answer = self.call("Page.navigate", json!({"url": format!("file://{}", file.display())}));
        assert_eq!(answer.get("errorText"), None, "{} opens", file.display());
        while !self.loaded {
            self.read();
        }
    }

    /// The value of an expression; promises are waited for.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let what = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.call("Runtime.evaluate", what);
        assert_eq!(answer.get("exceptionDetails"), None, "{expression}");
        answer["result"]["value"].clone()
    }

    /// Scrolls an element into view and clicks into the middle of it, as a hand would.
    pub(crate) fn click(&mut self, selector: &str) {
        let selector = json!(selector);
        let place = self.evaluate(&format!(
            "(() => {{ const e = document.querySelector({selector}); if (!e) return null;
             e.scrollIntoView({{block: 'center'}}); const r = e.getBoundingClientRect();
             return [r.x + r.width / 2, r.y + r.height / 2]; }})()"
        ));
        assert!(place.is_array(), "there is no {selector}");
        for event in ["mousePressed", "mouseReleased"] {
            let click =
                json!({"type": event, "x": place[0], "y": place[1], "button": "left", "clickCount": 1});
            self.call("Input.dispatchMouseEvent", click);
        }
    }

    /// Presses a key where the focus is.
    pub(crate) fn press(&mut self, key: &str, code: u32, text: &str) {
        let base = json!({"key": key, "code": key, "windowsVirtualKeyCode": code});
        for event in ["keyDown", "keyUp"] {
            let mut press = base.clone();
            press["type"] = event.into();
            if event == "keyDown" && !text.is_empty() {
                press["text"] = text.into();
            }
            self.call("Input.dispatchKeyEvent", press);
        }
    }

    /// A command and its answer.
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        self.sent += 1;
        let id = self.sent;
        let mut message = json!({"id": id, "method": method, "params": params});
        if !self.session.is_empty() {
            message["sessionId"] = self.session.as_str().into();
        }
        self.socket.send(Message::text(message.to_string())).expect("the browser lives");
        loop {
            let answer = self.read();
            if answer["id"] == id {
                assert_eq!(answer.get("error"), None, "{method}");
                return answer["result"].clone();
            }
        }
    }

    /// The next message; events are noted.
    fn read(&mut self) -> Value {
        let message = match self.socket.read() {
            Ok(message) => message,
            Err(error) => panic!("no answer of the browser in {} s: {error}", PATIENCE.as_secs()),
        };
        let value: Value = serde_json::from_slice(&message.into_data()).unwrap_or_default();
        let params = &value["params"];
        match value["method"].as_str().unwrap_or_default() {
            "Runtime.exceptionThrown" => self.errors.push(params["exceptionDetails"].to_string()),
            "Runtime.consoleAPICalled" if params["type"] == "error" || params["type"] == "warning" => {
                self.errors.push(params["args"].to_string());
            }
            "Log.entryAdded" if params["entry"]["level"] == "error" => {
                self.errors.push(params["entry"].to_string())
            }
            "Network.requestWillBeSent" => {
                self.requests.push(params["request"]["url"].as_str().unwrap_or_default().into());
            }
            "Page.loadEventFired" => self.loaded = true,
            _ => {}
        }
        value
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}
