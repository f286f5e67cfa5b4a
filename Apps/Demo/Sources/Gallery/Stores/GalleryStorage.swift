public import Bodega
import Boutique
public import Foundation

/// The storage of the gallery.
///
///     gallery.sqlite3   the favourites, the albums, the picture on the easel, the images, and the archive, each in a
///                       collection of its own
///     secrets/          the session, encrypted
///     lock              locked while a gallery uses this folder
///
/// The preferences are in the user defaults, in one suite for each folder.
///
/// If the gallery is synchronized, the images of the favourites are in a collection of their own, which is synchronized
/// as well. The image on the easel stays on this device.
public struct GalleryStorage: Sendable {
    let favourites: any StorageEngine
    /// In the database of the favourites, which the albums refer to.
    let albums: any StorageEngine
    let easel: any StorageEngine
    let images: any StorageEngine
    /// The images of the favourites, if they are in a collection of their own.
    let sharedImages: (any StorageEngine)?
    let archive: any StorageBackend
    /// How much of the archive has been created.
    let archiveProgress: any StorageEngine
    let secrets: any SecretStorage
    /// The suite of user defaults that stores the preferences.
    let defaultsSuite: String
    /// The synchronization with other devices, `nil` if there is none.
    let device: SyncedDevice?
    private let lock: FolderLock?

    /// Opens the files in a folder and creates missing ones.
    ///
    /// - Parameter directory: The folder.
    /// - Throws: A `StorageError`, with the code `locked` if another gallery is using this folder, or with another code
    ///   if a file could not be opened.
    public init(directory: FileManager.Directory) throws {
        let lock = try FolderLock(directory)
        let file = try SQLiteStorageEngine(opening: directory, databaseFilename: "gallery")
        self.init(
            favourites: try file.collection(named: Favourite.collection),
            albums: try file.collection(named: Album.collection),
            easel: try file.collection(named: "easel"),
            images: try file.collection(named: "images"),
            archive: try file.collection(named: "archive"),
            archiveProgress: try file.collection(named: "archive-progress"),
            secrets: EncryptedFileSecretStorage(directory: directory.appending("secrets")),
            defaultsSuite: Self.defaultsSuite(of: directory),
            lock: lock
        )
    }

    /// Opens the files in the folder of a device, whose favourites and albums are synchronized with those of others.
    ///
    /// - Parameters:
    ///   - directory: The folder.
    ///   - device: The name of the device, which no other one has.
    ///   - server: The connection to the server, which can be off.
    /// - Throws: A `StorageError`, as for a gallery that is not synchronized.
    public init(directory: FileManager.Directory, device: String, server: SyncConnection) async throws {
        let lock = try FolderLock(directory)
        let file = try SQLiteStorageEngine(opening: directory, databaseFilename: "gallery")
        try await self.init(
            device: device, { try file.collection(named: $0) }, server: server,
            secrets: EncryptedFileSecretStorage(directory: directory.appending("secrets")),
            defaultsSuite: Self.defaultsSuite(of: directory), lock: lock)
    }

    /// Creates a storage from engines, for tests.
    init(
        favourites: any StorageEngine,
        albums: any StorageEngine,
        easel: any StorageEngine,
        images: any StorageEngine,
        sharedImages: (any StorageEngine)? = nil,
        archive: any StorageBackend,
        archiveProgress: any StorageEngine,
        secrets: any SecretStorage,
        defaultsSuite: String,
        device: SyncedDevice? = nil,
        lock: FolderLock? = nil
    ) {
        self.favourites = favourites
        self.albums = albums
        self.easel = easel
        self.images = images
        self.sharedImages = sharedImages
        self.archive = archive
        self.archiveProgress = archiveProgress
        self.secrets = secrets
        self.defaultsSuite = defaultsSuite
        self.device = device
        self.lock = lock
    }

    /// The name of the suite of a folder. Not every platform allows slashes in it.
    private static func defaultsSuite(of directory: FileManager.Directory) -> String {
        "emporium-gallery." + CacheKey(directory.url.standardizedFileURL.path).value
    }
}

extension FileManager.Directory {
    /// A subfolder.
    ///
    /// - Parameter name: Its name.
    public func appending(_ name: String) -> Self {
        Self(url: url.appendingPathComponent(name, isDirectory: true))
    }
}
