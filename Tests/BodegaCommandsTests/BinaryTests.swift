#if CommandLineTool
import Foundation
import Testing

/// The built program, run as a process: what the tests in this process can't see.
@Suite("The built program")
struct BinaryTests {

    /// `bodega` beside the test bundle.
    private static var program: URL {
        let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
        // Off Apple, the test bundle is an executable and this process runs it.
        let tests = bundle ?? URL(fileURLWithPath: CommandLine.arguments[0])
        return tests.deletingLastPathComponent().appendingPathComponent("bodega")
    }

    /// Runs a shell script in which `$1` is the program and `$2` a store.
    private func shell(_ script: String, store: String) throws -> (status: Int32, output: Data, errors: String) {
        let process = Process()
        let output = Pipe()
        let errors = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data().write(to: errors)
        defer { _ = Result { try FileManager.default.removeItem(at: errors) } }
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", script, "sh", Self.program.path, store]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = try FileHandle(forWritingTo: errors)
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (process.terminationStatus, data, try String(contentsOf: errors, encoding: .utf8))
    }

    @Test("reads standard input and passes bytes through pipes", arguments: storeAddresses)
    func pipes(address: @Sendable (URL) -> String) async throws {
        try await withFolder { folder in
            let store = address(folder)
            let script =
                #"printf 'a\000\377\n' | "$1" put "$2" k && "$1" export "$2" | "$1" import "$2".copy && "$1" get "$2".copy k"#
            let result = try shell(script, store: store)
            #expect(result.status == 0)
            #expect(result.output == Data("imported 1\n".utf8) + Data([0x61, 0, 0xFF, 0x0A]))
            #expect(result.errors.isEmpty)
        }
    }

    @Test("returns its exit status, with the reason on standard error")
    func exitStatus() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            let absent = try shell(#""$1" ls "$2""#, store: store)
            #expect(absent.status == 1)
            #expect(absent.output.isEmpty)
            #expect(absent.errors.hasPrefix("bodega: There is no store at "))
            #expect(try shell(#""$1" put "$2" k; "$1" get "$2" x"#, store: store).status == 3)
            #expect(try shell(#"echo '{' | "$1" import "$2" --key id"#, store: store).status == 4)
            #expect(try shell(#""$1" ls"#, store: store).status == 64)
        }
    }

    @Test("ends quietly, with exit status 141, when the reader of its output goes away")
    func closedPipe() async throws {
        try await withFolder { folder in
            let script = """
                head -c 1000000 /dev/zero | "$1" put "$2" k
                { "$1" export "$2"; echo "status $?" >&2; } | head -c 1
                """
            let result = try shell(script, store: storeAddresses[0](folder))
            #expect(result.output == Data("{".utf8))
            #expect(result.errors == "status 141\n")
        }
    }

    @Test("leaves nothing beside the store, whether it succeeds or not", arguments: storeAddresses)
    func nothingLeftBehind(address: @Sendable (URL) -> String) async throws {
        // What a process leaves when it ends before it has closed the store depends on its threads: hence so many runs.
        for _ in 0..<20 {
            try await withFolder { folder in
                let store = address(folder)
                for (script, status) in [
                    (#"echo a | "$1" put "$2" k"#, 0), (#""$1" get "$2" absent"#, 3),
                    (#"echo '{' | "$1" import "$2" --key id"#, 4), (#""$1" ls "$2""#, 0),
                ] {
                    #expect(try shell(script, store: store).status == Int32(status))
                    let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
                    #expect(files.filter { $0 != "store" }.count == 1, "\(files) after \(script)")
                }
            }
        }
    }
}
#endif
