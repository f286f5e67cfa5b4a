@testable import Bodega
import Foundation
import TestSupport
import Testing

/// The locks of a folder.
@Suite struct DiskLockTests {

    @Test("A lock goes with its writer, also if a child process has inherited the file and not closed it yet")
    func inherited() throws {
        let folder = TemporaryFolder()
        let core = DiskFolder(url: folder.url, durability: .relaxed)
        // As forking does.
        let copy = try core.writing { _, control in dup(control) }
        try #require(copy >= 0)
        defer { close(copy) }
        #expect(try folder.names() == [".emporium"])
        core.removeControlFolderIfIdle()
        #expect(try folder.names() == [])
    }
}
