; The installer for Windows, for one user and without an administrator's rights. scripts/release calls
;   makensis -DVERSION=0.1.0 -DFOLDER=files -DOUTPUT=setup.exe windows.nsi
Target amd64-unicode
!include "LogicLib.nsh"
!include "WinMessages.nsh"
!include "WordFunc.nsh"
!define UNINSTALL "Software\Microsoft\Windows\CurrentVersion\Uninstall\vouch"

Name "vouch ${VERSION}"
OutFile "${OUTPUT}"
InstallDir "$LOCALAPPDATA\Programs\vouch"
InstallDirRegKey HKCU "${UNINSTALL}" "InstallLocation"
RequestExecutionLevel user
SetCompressor /SOLID lzma
SetDateSave off
Page directory
Page instfiles
UninstPage uninstConfirm
UninstPage instfiles

; Reads the user's Path into $0; a user may have none. Sets the error flag if it can't be changed safely: NSIS cuts long
; texts.
!macro ReadPath
    ClearErrors
    ReadRegStr $0 HKCU "Environment" "Path"
    ${If} ${Errors}
        StrCpy $1 0
        ${Do}
            EnumRegValue $2 HKCU "Environment" $1
            ${If} $2 == ""
            ${OrIf} $2 == "Path"
                ${ExitDo}
            ${EndIf}
            IntOp $1 $1 + 1
        ${Loop}
        ClearErrors
        ${If} $2 == "Path"
            SetErrors
        ${EndIf}
    ${EndIf}
    StrLen $1 "$0"
    IntOp $1 $1 + 260 ; a folder
    ${If} $1 >= ${NSIS_MAX_STRLEN}
        SetErrors
    ${EndIf}
!macroend

!macro WritePath
    WriteRegExpandStr HKCU "Environment" "Path" "$0"
    SendMessage ${HWND_BROADCAST} ${WM_WININICHANGE} 0 "STR:Environment" /TIMEOUT=5000
!macroend

Section
    SetOutPath "$INSTDIR"
    File /r "${FOLDER}/*"
    WriteUninstaller "$INSTDIR\uninstall.exe"
    WriteRegStr HKCU "${UNINSTALL}" "DisplayName" "vouch"
    WriteRegStr HKCU "${UNINSTALL}" "DisplayVersion" "${VERSION}"
    WriteRegStr HKCU "${UNINSTALL}" "InstallLocation" "$INSTDIR"
    WriteRegStr HKCU "${UNINSTALL}" "UninstallString" '"$INSTDIR\uninstall.exe"'
    !insertmacro ReadPath
    ${If} ${Errors}
        DetailPrint "Please add $INSTDIR to the variable Path."
    ${Else}
        ${WordAdd} "$0" ";" "+$INSTDIR" $0
        !insertmacro WritePath
    ${EndIf}
SectionEnd

Section "Uninstall"
    Delete "$INSTDIR\vouch.exe"
    Delete "$INSTDIR\LICENSE"
    RMDir /r "$INSTDIR\licences"
    Delete "$INSTDIR\uninstall.exe"
    RMDir "$INSTDIR"
    DeleteRegKey HKCU "${UNINSTALL}"
    !insertmacro ReadPath
    ${IfNot} ${Errors}
        ${un.WordAdd} "$0" ";" "-$INSTDIR" $0
        !insertmacro WritePath
    ${EndIf}
SectionEnd
