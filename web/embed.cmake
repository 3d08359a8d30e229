# cmake -DOUT=page_data.h -DDIR=web -P embed.cmake: the files of the page as C arrays.
set(text "/* Generated from web/. */\n#pragma once\n\n")
foreach(name index.html page.css page.js icon.svg)
	file(READ ${DIR}/${name} bytes HEX)
	string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
	# Lines of a length that editors and compilers like.
	string(REGEX REPLACE "(................................................................................)"
		"\\1\n" bytes "${bytes}")
	string(REPLACE "." "_" symbol ${name})
	string(APPEND text "static const char page_${symbol}[] = {\n${bytes}0x00};\n")
endforeach()
file(WRITE ${OUT} "${text}")
