#if !CommandLineTool
@testable import BodegaCommands
import Testing

@Suite("The tool without its commands")
struct WithoutCommandsTests {

    @Test("explains how to build them, and fails")
    func hint() async {
        let result = await bodega("ls", "x.db")
        #expect(result.status == ExitStatus.failure.rawValue)
        #expect(result.errors.contains("swift build --traits CommandLineTool"))
        #expect(result.output.isEmpty)
    }
}
#endif
