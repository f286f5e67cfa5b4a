import Foundation

/// A file that appears under its name when it is complete, in place of what was there before.
///
/// A device or pipe that is there already is written to as it is.
package final class OutputFile: ByteSink {
    private let path: String
    /// Where the bytes go until the file is complete, `nil` if they go to their destination at once.
    private let draft: String?
    private let descriptor: Int32
    private let sink: DescriptorSink

    /// Begins a file.
    ///
    /// - Parameter path: Where the file is to be. A symbolic link there stays; the file that it names is replaced.
    /// - Throws: A ``ToolError`` if it can't be written there.
    package init(path: String) throws {
        let url = URL(fileURLWithPath: path).resolvingSymlinksInPath()
        let type = try Self.type(of: url)
        if type == .typeDirectory { throw ToolError(.failure, "\(path) is a folder.") }
        if let type, type != .typeRegular {
            self.draft = nil
            self.descriptor = try Self.opened(systemOpen(url.path, creating: false), path)
        } else {
            let name = ".\(url.lastPathComponent.prefix(64)).\(UUID().uuidString)"
            let draft = url.deletingLastPathComponent().appendingPathComponent(name).path
            self.draft = draft
            self.descriptor = try Self.opened(systemOpen(draft, creating: true), path)
        }
        self.path = url.path
        self.sink = DescriptorSink(descriptor: descriptor, name: path)
    }

    private static func type(of url: URL) throws -> FileAttributeType? {
        guard FileManager.default.fileExists(atPath: url.path) else { return nil }
        return try FileManager.default.attributesOfItem(atPath: url.path)[.type] as? FileAttributeType
    }

    /// Checks what a call to open returned; called at once, before other calls change what the system says about it.
    private static func opened(_ descriptor: Int32, _ path: String) throws -> Int32 {
        guard descriptor >= 0 else { throw ToolError(.failure, "\(path) can't be written: \(lastErrorText).") }
        return descriptor
    }

    package func write(_ bytes: UnsafeRawBufferPointer) throws {
        try sink.write(bytes)
    }

    /// Puts the complete file into place.
    ///
    /// - Throws: A ``ToolError`` if that fails; what was there before is then still there.
    package func commit() throws {
        guard let draft else { return }
        guard systemSync(descriptor), systemRename(draft, path) else {
            throw ToolError(.failure, "\(path) can't be written: \(lastErrorText).")
        }
    }

    deinit {
        systemClose(descriptor)
        // After a commit there is nothing of that name any more.
        if let draft { systemRemove(draft) }
    }
}
