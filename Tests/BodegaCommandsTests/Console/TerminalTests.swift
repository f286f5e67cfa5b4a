#if CommandLineTool
@testable import BodegaCommands
import Foundation
import TestSupport
import Testing

/// The built program on a pseudo-terminal, and into a pipe.
@Suite("On a pseudo-terminal")
struct TerminalTests {

    private static let people = """
        {"id":"a","name":"Ada Lovelace, Countess of Lovelace","born":1815}
        {"id":"b\\u001b[2J","name":"Bob","born":1950}

        """

    private func run(
        _ arguments: String...,
        environment: [String: String] = [:],
        columns: UInt16 = 80
    ) async throws -> (output: String, status: Int32) {
        await (try Terminal(BinaryTests.program, arguments, environment: environment, columns: columns)).finish()
    }

    private func withPeople(_ body: (String) async throws -> Void) async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            _ = await bodega("import", store, "--key", "id", input: Array(Self.people.utf8))
            try await body(store)
        }
    }

    @Test("a query is a table that is as wide as the terminal, with control characters escaped")
    func table() async throws {
        try await withPeople { store in
            let arguments = [store, "--select", "born", "--select", "name"]
            let result = await (try Terminal(BinaryTests.program, ["query"] + arguments, columns: 40)).finish()
            #expect(result.status == 0)
            #expect(
                result.output == """
                    \u{1B}[1mkey         born  name\u{1B}[0m
                    a           1815  Ada Lovelace, Countes…
                    b\\u{1B}[2J  1950  Bob

                    """)
            let wide = await (try Terminal(BinaryTests.program, ["query"] + arguments, columns: 200)).finish()
            #expect(wide.output.contains("Countess of Lovelace\n"))
            // Into a pipe: plain, whole, with tabs.
            let piped = await bodega("query", store, "--select", "born", "--select", "name")
            #expect(piped.text == "a\t1815\tAda Lovelace, Countess of Lovelace\nb\u{1B}[2J\t1950\tBob\n")
        }
    }

    @Test("colors are shown unless the environment or an option disables them")
    func colors() async throws {
        try await withPeople { store in
            let cases: [(arguments: [String], environment: [String: String], isColored: Bool)] = [
                ([], [:], true), ([], ["NO_COLOR": "1"], false), ([], ["NO_COLOR": ""], true),
                ([], ["TERM": "dumb"], false), (["--color", "never"], [:], false),
                (["--color", "always"], ["NO_COLOR": "1"], true),
            ]
            for (arguments, environment, isColored) in cases {
                let all = ["verify", store] + arguments
                let output = await (try Terminal(BinaryTests.program, all, environment: environment)).finish().output
                #expect(output.contains("\u{1B}[32m") == isColored, "\(arguments) \(environment)")
            }
            #expect(await !bodega("verify", store).text.contains("\u{1B}"))
            #expect(await bodega("verify", store, "--color", "always").text.contains("\u{1B}[32m"))
        }
    }

    @Test("a bar shows the progress, is removed at the end, and fits")
    func progress() async throws {
        try await withPeople { store in
            let wide = try await run("copy", store, store + "#copy").output
            #expect(
                wide.hasPrefix(
                    "\r" + String(repeating: "█", count: 30) + " 100 %  2 items\u{1B}[K\r\u{1B}[Kcopied 2 in "))
            #expect(wide.hasSuffix(" a second)\n"))
            let narrow = try await run("copy", store, store + "#again", columns: 40).output
            #expect(narrow.contains("\r" + String(repeating: "█", count: 10) + " 100 %"))
            #expect(try await run("copy", store, store + "#third", "--quiet").output == "")
        }
    }

    @Test("a confirmation is required before all items are removed", arguments: ["y", "n"])
    func question(answer: String) async throws {
        try await withPeople { store in
            let terminal = try Terminal(BinaryTests.program, ["rm", store, "--all"])
            await terminal.read(until: "[y/N] ")
            terminal.type(answer + "\n")
            #expect(await terminal.finish().status == (answer == "y" ? 0 : 1))
            #expect(await bodega("count", store).text == (answer == "y" ? "0\n" : "2\n"))
        }
    }

    @Test("Ctrl-C ends watching in order", .enabled(if: Terminal.hasControl))
    func controlC() async throws {
        try await withPeople { store in
            let terminal = try Terminal(BinaryTests.program, ["watch", store, "--interval", "0.02"])
            await terminal.read(until: "Ctrl-C ends it.")
            // Items from before the watch are not shown, so the test writes until a change is.
            let writer = Task {
                var number = 0
                while !Task.isCancelled {
                    number += 1
                    _ = await bodega("put", store, "new \(number)", input: [1])
                }
            }
            let insertion = "\u{1B}[32minserted\u{1B}[0m"
            #expect(await terminal.read(until: insertion).contains(insertion))
            writer.cancel()
            await writer.value
            terminal.type("\u{03}")
            #expect(await terminal.finish().status == 0)
        }
    }

    @Test("completion scripts know the commands", arguments: ["bash", "zsh", "fish"])
    func completion(shell: String) async throws {
        let script = await bodega("--generate-completion-script", shell)
        #expect(script.status == 0)
        for command in ["copy", "verify", "watch", "query"] { #expect(script.text.contains(command)) }
    }

    @Test("bash accepts its completion script, and completes with it", .enabled(if: Shell.isInstalled("bash")))
    func bash() async throws {
        let words = try await Shell.complete(
            "bash",
            """
            source "$1" || exit 1
            complete -p bodega >/dev/null || exit 1
            COMP_WORDS=(bodega co) COMP_CWORD=1 COMP_LINE="bodega co" COMP_POINT=9
            _bodega bodega co bodega
            printf '%s\\n' "${COMPREPLY[@]}"
            """)
        #expect(words.contains("copy") && words.contains("count") && !words.contains("verify"))
    }

    @Test("zsh accepts its completion script, and completes with it", .enabled(if: Shell.isInstalled("zsh")))
    func zsh() async throws {
        // Zsh completes only interactive input, so the test types into another instance.
        let lines = try await Shell.complete(
            "zsh",
            #"""
            zmodload zsh/zpty
            zsh -n "$1" || exit 1
            zpty shell "zsh -f -i"
            zpty -w shell "autoload -Uz compinit; compinit -D -u; source ${(q)1}; PS1=rea''dy"
            # It shows its prompt when it takes single keys.
            zpty -r shell answer '*ready*'
            # The tabulator lists what there is, and Ctrl-U takes back what was typed.
            zpty -w -n shell $'bodega co\t\t\C-Uexit\n'
            while zpty -r shell answer; do print -r -- "$answer"; done
            zpty -d shell
            """#)
        #expect(lines.contains { $0.contains("copy") } && lines.contains { $0.contains("count") })
        #expect(!lines.contains { $0.contains("verify") })
    }

    @Test("fish accepts its completion script, and completes with it", .enabled(if: Shell.isInstalled("fish")))
    func fish() async throws {
        let words = try await Shell.complete(
            "fish", "fish --no-execute $argv[1]; and source $argv[1]; and complete --do-complete 'bodega co'")
        #expect(words.contains { $0.hasPrefix("copy") } && words.contains { $0.hasPrefix("count") })
        #expect(!words.contains { $0.hasPrefix("verify") })
    }

    @Test("the version is the newest one in the changelog")
    func version() async throws {
        let changelog = try String(contentsOf: Fixtures.root.appendingPathComponent("CHANGELOG.md"), encoding: .utf8)
        let newest = try #require(changelog.firstMatch(of: /\n## \[(.+?)\]/)?.1)
        #expect(await bodega("--version").text == "\(newest)\n")
    }

    @Test("the manual page in the repository matches the commands")
    func manual() async throws {
        let page = await bodega("manual")
        #expect(page.status == 0)
        let committed = Fixtures.root.appendingPathComponent("docs/bodega.1")
        #expect(
            try String(contentsOf: committed, encoding: .utf8) == page.text,
            "Generate it again: bodega manual > docs/bodega.1")
        for command in ["import", "copy", "query", "watch"] { #expect(page.text.contains(".SS bodega \(command)\n")) }
    }
}
#endif
