import ArgumentParser
public import Bodega
public import Foundation
public import Gallery
import PictureAPI
public import ServiceLifecycle
import UnixSignals

extension GalleryOptions {
    /// Opens the storage of a gallery.
    ///
    /// - Parameters:
    ///   - folder: The folder of the gallery.
    ///   - open: Opens the storage in the folder.
    /// - Throws: A `ValidationError` if another gallery is using the folder, or the error of `open`.
    public func storage(
        in folder: FileManager.Directory, _ open: (FileManager.Directory) async throws -> GalleryStorage
    ) async throws -> GalleryStorage {
        do {
            return try await open(folder)
        } catch let error as StorageError where error.code == .locked {
            throw ValidationError(
                "Another gallery is using \(folder.url.path). Stop it, or choose another folder with --data.")
        }
    }

    /// Serves galleries and the picture API until the program gets SIGINT or SIGTERM.
    ///
    /// - Parameters:
    ///   - storages: The storages of the galleries.
    ///   - devices: The names of the devices with these galleries; none if there is only one gallery.
    ///   - services: What else the galleries need. It ends after them.
    /// - Throws: An error if a server cannot listen.
    public func serve(
        _ storages: [GalleryStorage], of devices: [String] = [], with services: [any Service] = []
    ) async throws {
        let logger = logger
        let api = try PictureAPIServer(directory: directory.appending("api"), seed: seed, logger: logger)
        try await api.setOnline(true)
        let announcement = Announcement(of: devices, wanted: port)
        var galleries: [any Service] = []
        for (number, storage) in storages.enumerated() {
            galleries.append(
                try await GalleryServer(
                    storage: storage,
                    connection: PictureAPIConnection(
                        address: { await api.address },
                        isOn: { await api.isOnline },
                        setOn: { try await api.setOnline($0) }
                    ),
                    noticeTime: .seconds(noticeSeconds),
                    port: port == 0 ? 0 : port + number,
                    logger: logger,
                    onListening: { port in announcement.add(port, of: number) }
                ))
        }
        // The galleries end first, as they need the others.
        var configuration = ServiceGroupConfiguration(
            services: services + [api] + galleries, gracefulShutdownSignals: [.sigint, .sigterm], logger: logger)
        configuration.maximumGracefulShutdownDuration = .seconds(5)
        try await ServiceGroup(configuration: configuration).run()
    }
}
