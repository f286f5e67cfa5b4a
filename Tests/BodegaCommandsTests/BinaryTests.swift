#if CommandLineTool
import Foundation
import TestSupport
import Testing

/// Runs the built program as a process, to test what tests in this process can't observe.
@Suite("The built program")
struct BinaryTests {

    /// `bodega` beside the test bundle.
    static var program: URL {
        let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
        // Off Apple, the test bundle is an executable and this process runs it.
        let tests = bundle ?? URL(fileURLWithPath: CommandLine.arguments[0])
        return tests.deletingLastPathComponent().appendingPathComponent("bodega")
    }

    /// Runs a shell script in which `$1` is the program and `$2` a store.
    private func shell(_ script: String, store: String) async throws -> (status: Int32, output: Data, errors: String) {
        let process = Process()
        let output = Pipe.separate()
        let errors = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data().write(to: errors)
        defer { _ = Result { try FileManager.default.removeItem(at: errors) } }
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", script, "sh", Self.program.path, store]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = try FileHandle(forWritingTo: errors)
        try process.start()
        let data = await process.output(output)
        return (process.terminationStatus, data, try String(contentsOf: errors, encoding: .utf8))
    }

    @Test("reads standard input and passes bytes through pipes", arguments: storeAddresses)
    func pipes(address: @Sendable (URL) -> String) async throws {
        try await withFolder { folder in
            let store = address(folder)
            let script =
                #"printf 'a\000\377\n' | "$1" put "$2" k && "$1" export "$2" | "$1" import "$2".copy && "$1" get "$2".copy k"#
            let result = try await shell(script, store: store)
            #expect(result.status == 0)
            #expect(result.output == Data("imported 1\n".utf8) + Data([0x61, 0, 0xFF, 0x0A]))
            #expect(result.errors.isEmpty)
        }
    }

    @Test("returns its exit status, with the reason on standard error")
    func exitStatus() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            let absent = try await shell(#""$1" ls "$2""#, store: store)
            #expect(absent.status == 1)
            #expect(absent.output.isEmpty)
            #expect(absent.errors.hasPrefix("bodega: There is no store at "))
            #expect(try await shell(#""$1" put "$2" k; "$1" get "$2" x"#, store: store).status == 3)
            #expect(try await shell(#"echo '{' | "$1" import "$2" --key id"#, store: store).status == 4)
            #expect(try await shell(#""$1" ls"#, store: store).status == 64)
        }
    }

    @Test("ends quietly, with exit status 141, when the reader of its output closes it")
    func closedPipe() async throws {
        try await withFolder { folder in
            let script = """
                head -c 1000000 /dev/zero | "$1" put "$2" k
                { "$1" export "$2"; echo "status $?" >&2; } | head -c 1
                """
            let result = try await shell(script, store: storeAddresses[0](folder))
            #expect(result.output == Data("{".utf8))
            #expect(result.errors == "status 141\n")
        }
    }

    @Test("ends a query when the reader of its output closes it", arguments: ["", "--sort n"])
    func closedPipeOfQuery(options: String) async throws {
        try await withFolder { folder in
            // More lines than a pipe holds.
            let script = """
                seq 1 20000 | sed 's/.*/{"n":&,"text":"some text that fills the pipe"}/' | "$1" import "$2" --key n >&2
                "$1" query "$2" --index n 2>/dev/null
                { "$1" query "$2" --json \(options); echo "status $?" >&2; } | head -n 1
                """
            let result = try await shell(script, store: storeAddresses[0](folder))
            let line = #"{"key":"1","json":{"n":1,"text":"some text that fills the pipe"}}"# + "\n"
            #expect(String(decoding: result.output, as: UTF8.self) == line)
            #expect(result.errors == "imported 20000\nstatus 141\n")
        }
    }

    @Test("accepts keys of any form through xargs, as its help shows", arguments: ["", "--verbatim"])
    func keysThroughXargs(kind: String) async throws {
        try await withFolder { folder in
            let script = """
                for key in -b --json plain; do printf %s "$key" | "$1" put "$2" \(kind) -- "$key" || exit 99; done
                "$1" ls -0 "$2" | xargs -0 "$1" get "$2" \(kind) --
                "$1" rm "$2" \(kind) -- -b --json && "$1" ls "$2"
                """
            let result = try await shell(script, store: storeAddresses[0](folder))
            #expect(result.output == Data("-b--jsonplainplain\n".utf8))
            #expect(result.errors.isEmpty)
        }
    }

    #if !canImport(Darwin)
    // Apple's volumes refuse such names.
    @Test("reports a file name that is not UTF-8, and leaves out such files and folders on request")
    func undecodableNames() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            let script = #"""
                cd "$(dirname "${2#*:}")" && mkdir source && cd source || exit 99
                echo good > good
                bad=$(printf '\377\376')
                ln -s good "$bad.link"
                echo bad > "$bad.bin"
                "$1" import "$2" .
                echo "status $?" >&2
                mkdir "$bad" && echo bad > "$bad/file"
                "$1" import "$2" . --skip-bad && "$1" ls "$2"
                """#
            let result = try await shell(script, store: store)
            #expect(result.status == 0)
            #expect(result.output == Data("imported 1, skipped 2\ngood\n".utf8))
            let lines = result.errors.split(separator: "\n")
            #expect(lines.count == 4)
            #expect(lines[0].contains("Its name is not valid UTF-8, so it can't be a key. Nothing was imported."))
            #expect(lines[1] == "status 4")
            #expect(
                lines[2...].allSatisfy { $0.hasSuffix("Its name is not valid UTF-8, so it can't be a key. Skipped.") })
        }
    }

    @Test("ends with status 1 when a file to be imported can't be read")
    func unreadableFile() async throws {
        try await withFolder { folder in
            // A path that is too long can be made in two steps, but not opened, even by root.
            let script = #"""
                cd "$(dirname "${2#*:}")" && mkdir source && cd source || exit 99
                half=$(printf '%0250d/' 1 2 3 4 5 6 7 8 9 10)
                mkdir -p "one/$half" "two/$half" && mv two "one/$half" || exit 99
                "$1" import "$2" .
                status=$?
                rm -r one
                exit $status
                """#
            let result = try await shell(script, store: storeAddresses[0](folder))
            #expect(result.status == 1)
            #expect(result.errors.contains("It can't be read: "))
        }
    }
    #endif

    @Test("leaves no other files beside the store, on success and on failure", arguments: storeAddresses)
    func nothingLeftBehind(address: @Sendable (URL) -> String) async throws {
        // A process that ends before it closes the store leaves files only with some timings: hence the many runs.
        for _ in 0..<20 {
            try await withFolder { folder in
                let store = address(folder)
                for (script, status) in [
                    (#"echo a | "$1" put "$2" k"#, 0), (#""$1" get "$2" absent"#, 3),
                    (#"echo '{' | "$1" import "$2" --key id"#, 4), (#""$1" ls "$2""#, 0),
                ] {
                    #expect(try await shell(script, store: store).status == Int32(status))
                    let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
                    #expect(files.filter { $0 != "store" }.count == 1, "\(files) after \(script)")
                }
            }
        }
    }
}
#endif
