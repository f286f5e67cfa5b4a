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
        let type = try FileManager.default.fileExists(atPath: url.path)
            ? FileManager.default.attributesOfItem(atPath: url.path)[.type] as? FileAttributeType : nil
        if type == .typeDirectory { throw ToolError(.failure, "\(path) is a folder.") }
        if let type, type != .typeRegular {
            self.draft = nil
            self.descriptor = systemOpen(url.path, creating: false)
        } else {
            let name = ".\(url.lastPathComponent.prefix(64)).\(UUID().uuidString)"
            let draft = url.deletingLastPathComponent().appendingPathComponent(name).path
            self.draft = draft
            self.descriptor = systemOpen(draft, creating: true)
        }
        self.path = url.path
        self.sink = DescriptorSink(descriptor: descriptor, name: path)
        guard descriptor >= 0 else { throw ToolError(.failure, "\(path) can't be written: \(lastErrorText).") }
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
        guard descriptor >= 0 else { return }
        systemClose(descriptor)
        // After a commit there is nothing of that name any more.
        if let draft { systemRemove(draft) }
    }
}
