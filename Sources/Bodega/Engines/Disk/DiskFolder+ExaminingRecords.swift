import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension DiskFolder {

    /// Looks for damage of an item's file that can be noticed without a checksum of its bytes, which no file has.
    func examine(_ file: DiskFile, in folder: Int32) throws -> [StorageFinding] {
        let url = URL(fileURLWithPath: path + "/" + file.name)
        var findings: [StorageFinding] = []
        if try file.read(self).isEmpty {
            let message = "The item is empty. If it was not written so, restore it from a backup."
            findings.append(.init(.remark, message, key: file.key, file: url))
        }
        // A sidecar is read only for a file without an attribute.
        let attribute = try DiskAttribute.bytes(of: file.descriptor)
        let sidecar = attribute == nil ? try DiskSidecar.bytes(file.name, in: folder, self) : nil
        guard let bytes = attribute ?? sidecar else { return findings }
        let record = bytes.withUnsafeBytes { DiskRecord(bytes: $0) }
        guard let record, record.key != nil || DiskRecord.isWithoutKey(bytes) else {
            let message = """
                The record of the file is damaged, or a newer version wrote it, so its item is found only under the \
                file's name. Restore the file from a backup.
                """
            return findings + [.init(.problem, message, file: url)]
        }
        guard let key = record.key, file.record?.key == nil else { return findings }
        if try withFile(of: key, in: folder, { _ in true }) == true {
            let message = "The file is a copy of this item's, and is an item under its own name."
            findings.append(.init(.remark, message, key: key, file: url))
        } else {
            let name = DiskName(key)
            let message = """
                The file was renamed, or its record is damaged, so its item is found only under the file's name. The \
                item of the record is missing; its file is \(name.home ?? name.detour).
                """
            findings.append(.init(.problem, message, key: key, file: url))
        }
        return findings
    }
}
