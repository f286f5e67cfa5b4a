#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension DiskBatch {

    /// The execution of a committed batch. Steps are done and undone by renaming.
    ///
    /// In the batch's folder, `7` is the next state of the file of step 7 and `7.old` its previous state. `7.key` and
    /// `7.key.old` are the states of its sidecar.
    struct Work {
        let steps: Steps
        let committed: String
        let owner: DiskFolder
        let folder: Int32

        /// Carries out the steps that have not been carried out yet.
        func carryOut() throws {
            let mayHaveSidecars = try DiskSidecar.mayExist(in: folder, owner)
            for (index, step) in steps.list.enumerated() {
                switch step {
                case .write(let name, let hasSidecar):
                    if hasSidecar {
                        try DiskSidecar.prepare(in: folder, owner)
                        try replace(DiskSidecar.path(name), by: "\(index).key")
                    }
                    try replace(name, by: "\(index)")
                    // Only now, because the previous file may need its sidecar.
                    if !hasSidecar, mayHaveSidecars { try displace(DiskSidecar.path(name), to: "\(index).key.old") }
                case .remove(let name):
                    try displace(name, to: "\(index).old")
                    if mayHaveSidecars { try displace(DiskSidecar.path(name), to: "\(index).key.old") }
                }
            }
            if owner.durability == .full, try DiskSidecar.mayExist(in: folder, owner) {
                try FileSystem.synchronizeDirectory(owner.keysPath)
            }
        }

        /// Undoes the steps that have been carried out.
        func undo() throws {
            for (index, step) in steps.list.enumerated().reversed() {
                switch step {
                case .write(let name, let hasSidecar):
                    try restore(name, from: "\(index)", wasWritten: true)
                    try restore(DiskSidecar.path(name), from: "\(index).key", wasWritten: hasSidecar)
                case .remove(let name):
                    try restore(name, from: "\(index)", wasWritten: false)
                    try restore(DiskSidecar.path(name), from: "\(index).key", wasWritten: false)
                }
            }
        }

        private func replace(_ name: String, by next: String) throws {
            // If the next state is missing, the step was carried out before a crash.
            guard try exists(next) else { return }
            try displace(name, to: next + ".old")
            try rename(inBatch(next), to: name)
        }

        private func displace(_ name: String, to old: String) throws {
            if renameat(folder, name, folder, inBatch(old)) != 0, errno != ENOENT, errno != ENOTDIR {
                throw StorageError.system(errno, owner.path + "/" + name, "replaced or removed")
            }
        }

        private func restore(_ name: String, from next: String, wasWritten: Bool) throws {
            if wasWritten, try !exists(next) { try rename(name, to: inBatch(next)) }
            if try exists(next + ".old") { try rename(inBatch(next + ".old"), to: name) }
        }

        private func rename(_ source: String, to destination: String) throws {
            try FileSystem.check(owner.path + "/" + destination, "written") {
                renameat(folder, source, folder, destination)
            }
        }

        private func exists(_ name: String) throws -> Bool {
            try FileSystem.exists(inBatch(name), in: folder, owner.controlPath)
        }

        private func inBatch(_ name: String) -> String {
            DiskName.controlFolder + "/" + committed + "/" + name
        }
    }
}
