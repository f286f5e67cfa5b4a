import Foundation
import Testing

/// The programs on a terminal.
@Suite(.serialized) struct TerminalTests {

    private func run(
        _ arguments: [String], columns: UInt16 = 100, environment: [String: String] = [:]
    ) throws -> (terminal: PseudoTerminal, process: Process, program: Program) {
        let program = try Program()
        let process = program.process("profiler", arguments)
        var variables = ProcessInfo.processInfo.environment
        variables["TERM"] = "xterm"
        variables["NO_COLOR"] = nil
        process.environment = variables.merging(environment) { $1 }
        let terminal = try PseudoTerminal(columns: columns)
        try terminal.start(process)
        return (terminal, process, program)
    }

    private let short = [
        "run", "memory", "--operations", "read,write", "--sizes", "50,5000", "--duration", "50ms", "--no-html",
    ]

    @Test func `On a terminal the progress is drawn, and the cursor is visible at the end`() async throws {
        let (terminal, process, program) = try run(short)
        _ = await terminal.read()
        await Program.end(of: process)
        #expect(process.terminationStatus == 0, "\(terminal.text)")
        #expect(terminal.text.contains("\u{1B}[?25l") && terminal.text.contains("░"))
        #expect(terminal.text.contains("of 4") && terminal.text.contains("memory · 5,000 items · read"))
        let shown = terminal.text.range(of: "\u{1B}[?25h", options: .backwards)
        let hidden = terminal.text.range(of: "\u{1B}[?25l", options: .backwards)
        #expect(try #require(shown).lowerBound > #require(hidden).lowerBound)
        #expect(terminal.text.contains("\u{1B}[1mread\u{1B}[0m"))
        try program.remove()
    }

    @Test func `NO_COLOR disables colors, and a dumb terminal gets plain lines`() async throws {
        for (name, value) in [("NO_COLOR", "1"), ("TERM", "dumb")] {
            let (terminal, process, program) = try run(short, environment: [name: value])
            _ = await terminal.read()
            await Program.end(of: process)
            #expect(process.terminationStatus == 0)
            #expect(!terminal.text.contains("\u{1B}[1m") && !terminal.text.contains("\u{1B}[36m"))
            if name == "TERM" { #expect(!terminal.text.contains("\u{1B}")) }
            try program.remove()
        }
    }

    @Test func `A narrow terminal gets narrow lines`() async throws {
        let (terminal, process, program) = try run(short, columns: 30)
        _ = await terminal.read()
        await Program.end(of: process)
        #expect(terminal.text.contains("…"))
        try program.remove()
    }

    @Test(arguments: ["sqlite", "disk", "--engine"])
    func `After an interruption the program removes its data, shows the cursor and ends by the signal`(engine: String)
        async throws
    {
        let temporary = try Program()
        let dictionary = Program.url(of: "DictionaryProfiler").path
        let subject = engine == "--engine" ? ["--engine", dictionary] : [engine]
        let (terminal, process, program) = try run(
            ["run"] + subject + ["--sizes", "200", "--operations", "read", "--duration", "3600", "--no-html"]
                + ["--directory", temporary.folder.path])
        #expect(await terminal.read(until: "read · "), "\(terminal.text)")
        #expect(try !temporary.names().isEmpty)
        process.interrupt()
        _ = await terminal.read()
        await Program.end(of: process)
        #expect(process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGINT)
        #expect(terminal.text.hasSuffix("\u{1B}[?25h"))
        #expect(try temporary.names() == [])
        try program.remove()
        try temporary.remove()
    }
}
