import BenchHarness
import Foundation
import Testing

@Suite("The machine")
struct MachineTests {
    private let mounts = """
        /dev/vda / ext4 rw 0 0
        tmpfs /tmp tmpfs rw 0 0
        /dev/vdb /var xfs rw 0 0
        """

    @Test(
        "A path has the file system of its innermost mount",
        arguments: [
            ("/", "ext4"), ("/tmp", "tmpfs"), ("/tmp/a/b", "tmpfs"), ("/tmpfiles", "ext4"), ("/var/tmp", "xfs"),
        ]
    )
    func fileSystem(path: String, type: String) {
        #expect(Machine.fileSystem(of: path, mounts: mounts) == type)
    }

    /// In a process of its own: tests of the profiler begin a new peak in this one.
    @Test("The peak of memory includes an array that was written, and stays after its release")
    func memory() async {
        await #expect(processExitsWith: .success) {
            let before = try ResidentMemory.peak()
            let size = 64 << 20
            let sum = [UInt8](repeating: 1, count: size).reduce(0) { $0 &+ Int($1) }
            #expect(sum == size)
            #expect(try ResidentMemory.peak() >= before)
            #expect(try ResidentMemory.peak() >= size)
        }
    }

    @Test("Scratch folders are removed after success and after failure")
    func scratch() async throws {
        let scratch = try Scratch(in: FileManager.default.temporaryDirectory)
        let kept = try await scratch.withFolder { folder in
            #expect(FileManager.default.fileExists(atPath: folder.path))
            return folder
        }
        #expect(!FileManager.default.fileExists(atPath: kept.path))
        await #expect(throws: VerificationFailure.self) {
            try await scratch.withFolder { _ in throw VerificationFailure("broken") }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.url.path).isEmpty)
        try scratch.remove()
        #expect(!FileManager.default.fileExists(atPath: scratch.url.path))
    }
}
